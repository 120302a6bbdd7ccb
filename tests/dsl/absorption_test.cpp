// Absorption: what becomes one node, what stays apart, and that an absorbed node was never there.
#include <catch2/catch.hpp>

#include <string>

#include <pinion/graph.hpp>

#include <support/ends.hpp>
#include <support/own_graph.hpp>

namespace {

using namespace pinion;

// A graph with two placeholders, and the ops made since.
struct bench : own_graph {
  expr<float> x = placeholder<float>({4}, "x"), y = placeholder<float>({4}, "y");
  node_id first = g.size();

  // "name(Op) name(Op)", of the nodes made since the placeholders.
  std::string nodes() {
    const graph_view all(g);
    std::string text;
    for (node_id id = first; id < all.size(); ++id)
      if (all.contains(id)) text += (text.empty() ? "" : " ") + all[id].name + "(" + all[id].op + ")";
    return text;
  }
};

std::string text_of(const any_expr& e) {
  return to_string(*e.node().attrs.get<op::shared_program>("program"));
}

struct alternates {
  int next = 0;
  std::string operator()(const node_view&) { return "/task:" + std::to_string(next++); }
};

}  // namespace

TEST_CASE("temporaries of one statement are one node") {
  bench b;
  [[maybe_unused]] auto h = (b.x + b.y) * b.x;
  CHECK(b.nodes() == "mul(Mul)");
  CHECK(h.node().inputs.size() == 3);
  CHECK(text_of(h) == "%0 = input 0\n%1 = input 1\n%2 = add %0 %1\n%3 = input 2\n%4 = mul %2 %3\nreturn %4:float");
}

TEST_CASE("operands with a name in the program are nodes of their own") {
  bench b;
  auto s = b.x + b.y;
  [[maybe_unused]] auto h = s * b.x;
  CHECK(b.nodes() == "add(Add) mul(Mul)");
  CHECK(h.node().inputs[0].node == id_of(s));
}

TEST_CASE("a moved expression is a temporary again") {
  bench b;
  auto s = b.x + b.y;
  [[maybe_unused]] auto h = std::move(s) * b.x;
  CHECK(b.nodes() == "mul(Mul)");
  CHECK(h.node().inputs.size() == 3);
}

TEST_CASE("an expression that somebody else uses is not absorbed") {
  bench b;
  auto s = b.x + b.y;
  [[maybe_unused]] auto other = s * b.x;
  [[maybe_unused]] auto h = std::move(s) * b.y;
  CHECK(b.nodes() == "add(Add) mul(Mul) mul_1(Mul)");
  CHECK(h.node().inputs.size() == 2);
}

TEST_CASE("a stored expression is a leaf") {
  bench b;
  expr<float> s = b.x + b.y;
  [[maybe_unused]] auto h = expr<float>(s) * b.x;
  CHECK(b.nodes() == "add(Add) mul(Mul)");
}

TEST_CASE("the absorbed node leaves its name free") {
  bench b;
  [[maybe_unused]] auto h = (b.x + b.y) * b.x;
  auto s = b.x + b.y;
  CHECK(s.name() == "add");
  CHECK(h.name() == "mul");
  CHECK(!b.g.find("add_1"));
}

TEST_CASE("asking for the name settles a node, and it can still be absorbed, name and all") {
  bench b;
  auto s = b.x + b.y;
  CHECK(s.name() == "add");
  [[maybe_unused]] auto h = std::move(s) * b.x;
  CHECK(b.nodes() == "mul(Mul)");
  CHECK((b.x + b.y).name() == "add");
}

TEST_CASE("only the outermost op asks a policy for a device") {
  bench b;
  alternates policy;
  const device on(policy);
  [[maybe_unused]] auto h = (b.x + b.y) * b.x - 2.0f;
  auto k = b.x / b.y;
  CHECK(to_string(h.requested_device()) == "/task:0");
  CHECK(to_string(k.requested_device()) == "/task:1");
  CHECK(policy.next == 2);
}

TEST_CASE("across a device guard, a name scope, control dependencies or colocation nothing is absorbed") {
  for (int scope = 0; scope < 4; ++scope) {
    bench b;
    const auto before = no_op();
    auto s = b.x + b.y;
    const auto h = [&]() -> expr<float> {
      if (scope == 0) {
        const device on("/cpu:0");
        return std::move(s) * b.x;
      }
      if (scope == 1) {
        const name_scope layer("layer");
        return std::move(s) * b.x;
      }
      if (scope == 2) {
        const control_dependencies after{before};
        return std::move(s) * b.x;
      }
      const colocate_with near(b.y);
      return std::move(s) * b.x;
    }();
    INFO("scope " << scope);
    CHECK(h.node().inputs.size() == 2);
    CHECK(h.node().inputs[0].node == id_of(s));
    CHECK(b.g.find("add"));
  }
}

TEST_CASE("inside one guard, scope and set of control dependencies it is absorbed") {
  bench b;
  const auto before = no_op();
  const device on("/cpu:0");
  const name_scope layer("layer");
  const control_dependencies after{before};
  auto h = (b.x + b.y) * b.y;
  CHECK(h.name() == "layer/mul");
  CHECK(h.node().inputs.size() == 3);
  CHECK(h.node().control_inputs == std::vector<node_id>{id_of(before)});
}

TEST_CASE("a named node is never absorbed") {
  bench b;
  [[maybe_unused]] auto h = add(b.x, b.y, "sum") * b.x;
  CHECK(b.nodes() == "sum(Add) mul(Mul)");
}

TEST_CASE("a placed node is never absorbed") {
  bench b;
  [[maybe_unused]] auto h = place<"/cpu:0">(b.x + b.y) * b.x;
  CHECK(b.nodes() == "add(Add) mul(Mul)");
  CHECK(to_string(b.g.find("add")->device()) == "/device:CPU:0");
}

TEST_CASE("what is not elementwise is a leaf, and absorbs nothing") {
  bench b;
  [[maybe_unused]] auto h = reduce_sum(b.x + b.y) * b.x;
  CHECK(b.nodes() == "add(Add) Sum(Sum) mul(Mul)");
}

TEST_CASE("a literal is a part of the program and not a node") {
  bench b;
  [[maybe_unused]] auto h = 2.0f * b.x + 1;
  CHECK(b.nodes() == "add(Add)");
  CHECK(text_of(h) == "%0 = input 0\n%1 = literal 2\n%2 = mul %1 %0\n%3 = literal 1\n%4 = add %2 %3\nreturn %4:float");
}

TEST_CASE("a cast ends a program, and its operand joins it") {
  bench b;
  [[maybe_unused]] auto h = cast<std::int32_t>(b.x + b.y) + 1;
  CHECK(b.nodes() == "Cast(Cast) add(Add)");
  CHECK(b.g[b.g.id_of("Cast")].inputs.size() == 2);
}

TEST_CASE("comparisons and logic join the arithmetic that asks them") {
  bench b;
  [[maybe_unused]] auto h = select(b.x < b.y && !(b.x == 0.0f), b.x, b.y);
  CHECK(b.nodes() == "Select(Select)");
  CHECK(h.node().inputs.size() == 5);
}

TEST_CASE("an expression past the size limit goes on in a node of its own") {
  bench b;
  const auto sum = [&] { return b.x + b.y + b.x + b.y + b.x; };
  [[maybe_unused]] auto h = sum() * sum() * sum() * sum();
  int nodes = 0;
  for (node_id id = b.first; id < b.g.size(); ++id) {
    if (!b.g.contains(id)) continue;
    ++nodes;
    CHECK(b.g[id].inputs.size() <= 12);
    CHECK(scalar::operation_count(*b.g[id].attrs.get<op::shared_program>("program")) <= 32);
  }
  CHECK(nodes > 1);
  CHECK(nodes < 8);
}

TEST_CASE("an expression of another graph is refused as an operand") {
  bench b;
  graph other;
  const auto stranger = [&]() -> expr<float> {
    const auto use = other.as_default();
    return constant(1.0f, "s");
  }();
  CHECK_THROWS_WITH(b.x + stranger, Catch::Contains("'s' belongs to another graph"));
}

TEST_CASE("a use of what was moved into another expression is refused") {
  bench b;
  auto s = b.x + b.y;
  [[maybe_unused]] auto h = std::move(s) * b.x;
  CHECK_THROWS_WITH(s * b.x, Catch::Contains("after it was moved"));
}

TEST_CASE("a refused statement leaves the graph as it was") {
  bench b;
  expr<float> z = placeholder<float>({3}, "z");
  const auto before = b.nodes();
  CHECK_THROWS(b.x + z);
  CHECK_THROWS((b.x + b.y) * z);
  CHECK(b.nodes() == before);
}
