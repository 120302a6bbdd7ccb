// Parts of a model that gradients compute again: equal gradients, less memory, and what is kept all the same.
#include <pinion/autodiff/recompute.hpp>
#include <pinion/autodiff/recomputed_parts.hpp>
#include <pinion/graph.hpp>
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "support/own_session.hpp"

namespace {

using namespace pinion;
using layer = std::function<expr<float>(const expr<float>&)>;

expr<float> weights(const shape& extent) {
  return variable(truncated_normal<float>(extent, {.stddev = .3, .seed = 5}));
}

// A model of blocks, each of which is marked or not, with the gradients by its input and by all its variables.
struct model : own_graph {
  expr<float> x = placeholder<float>({6, 8}, "x"), loss;
  std::vector<expr<float>> gradients_of;
  operation init;

  model(const layer& block, int blocks, bool again) {
    const std::size_t before = g.collection("trainable_variables").size();
    expr<float> h = x;
    for (int i = 0; i < blocks; ++i) {
      if (again)
        h = recompute([&] { return block(h); });
      else
        h = block(h);
    }
    loss = reduce_sum(square(h));
    std::vector<output> xs{x.endpoint(g)};
    const auto& variables = g.collection("trainable_variables");
    for (std::size_t i = before; i < variables.size(); ++i) xs.push_back({variables[i], 0});
    for (const auto& found : autodiff::differentiate(g, {loss.endpoint(g)}, xs))
      gradients_of.emplace_back(g, found->is_sparse() ? found->rows : found->dense);
    init = global_variables_initializer();
  }

  // The loss and the gradients of three runs of a new session.
  std::vector<any_tensor> run(bool optimize) {
    session sess{{.graph = &g, .inter_op_threads = 1, .intra_op_threads = 1, .optimize = optimize}};
    sess.run(init);
    tensor<float> in({6, 8});
    for (std::int64_t i = 0; i < in.size(); ++i) in.data()[i] = .1f * static_cast<float>(i % 17) - .7f;
    std::vector<any_tensor> all;
    for (int i = 0; i < 3; ++i) {
      std::vector<any_expr> ends{loss};
      ends.insert(ends.end(), gradients_of.begin(), gradients_of.end());
      for (any_tensor& t : sess.run(run_request{.feeds = {{x, in}}, .fetches = ends})) all.push_back(std::move(t));
    }
    return all;
  }
  int copies() {
    int n = 0;
    for (const recomputed_part& part : recomputed_parts(g)) n += part.nodes;
    return n;
  }
};

void check_equal(const layer& block, int blocks = 3) {
  model kept(block, blocks, false), again(block, blocks, true);
  CHECK(kept.copies() < again.copies());
  CHECK(again.gradients_of.size() == kept.gradients_of.size());
  for (const bool optimize : {false, true}) {
    INFO(optimize);
    const auto a = kept.run(optimize), b = again.run(optimize);
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == b[i]);
  }
}

expr<float> dense_block(const expr<float>& h) {
  return h + matmul(tanh(matmul(h, weights({8, 16})) + weights({16})), weights({16, 8}));
}

expr<float> attention_block(const expr<float>& h) {
  const expr<float> n = rms_norm(h, ones<float>({8}));
  const auto heads = [&] { return transpose(reshape(matmul(n, weights({8, 8})), {6, 2, 4}), {1, 0, 2}); };
  const expr<float> q = reshape(heads(), {1, 2, 6, 4}), k = reshape(heads(), {1, 2, 6, 4}),
                    v = reshape(heads(), {1, 2, 6, 4});
  const expr<float> told = scaled_dot_product_attention(q, k, v, {.causal = true});
  return h + matmul(reshape(transpose(told, {0, 2, 1, 3}), {6, 8}), weights({8, 8}));
}

}  // namespace

TEST_CASE("gradients of parts that are computed again are the same, bit for bit") {
  SECTION("two dense layers") {
    check_equal(dense_block);
  }
  SECTION("one operation") {
    check_equal([](const expr<float>& h) -> expr<float> { return sin(h); });
  }
  SECTION("layer norm") {
    check_equal([](const expr<float>& h) -> expr<float> {
      return layer_norm(matmul(h, weights({8, 8})), weights({8}), weights({8}));
    });
  }
  SECTION("attention") {
    check_equal(attention_block);
  }
  SECTION("a branch") {
    check_equal([](const expr<float>& h) -> expr<float> {
      const expr<float> wide = matmul(h, weights({8, 8}));
      return cond(
          reduce_sum(wide) > 0.f, [&]() -> expr<float> { return sin(wide); },
          [&]() -> expr<float> { return wide * wide; });
    });
  }
  SECTION("a loop") {
    check_equal([](const expr<float>& h) -> expr<float> {
      const expr<float> wide = matmul(h, weights({8, 8}));
      const auto [n, y] = while_loop(
          [](const auto& i, const auto&) { return i < 3; },
          [](const auto& i, const auto& v) { return std::tuple(i + 1, expr<float>(sin(v))); }, constant(0), wide);
      return y + wide;
    });
  }
  SECTION("a part within a part") {
    check_equal([](const expr<float>& h) -> expr<float> {
      const expr<float> inner = recompute([&]() -> expr<float> { return tanh(matmul(h, weights({8, 8}))); });
      return matmul(inner, weights({8, 8})) * inner;
    });
  }
  SECTION("dropout, which has one mask in both passes") {
    check_equal([](const expr<float>& h) -> expr<float> {
      return dropout(tanh(matmul(h, weights({8, 8}))), {.rate = .4, .seed = 3}) + h;
    });
  }
  SECTION("rows that are gathered") {
    check_equal([](const expr<float>& h) -> expr<float> {
      const expr<float> table = weights({9, 8});
      return h * gather(table, constant<int>({1, 1, 4, 2, 8, 0})) + gather(table, constant<int>({0, 5, 4, 2, 8, 0}));
    });
  }
}

TEST_CASE("the mask of dropout without a seed is the same in both passes") {
  own_session own;
  const auto x = placeholder<float>({64}, "x");
  const expr<float> y = recompute([&]() -> expr<float> { return square(dropout(sin(x), {.rate = .5})); });
  const auto [dx] = gradients(y, x);
  tensor<float> ones({64});
  std::fill_n(ones.data(), 64, 1.f);
  for (int run = 0; run < 3; ++run) {
    const auto [value, slope] = own.sess.run({{x, ones}}, y, dx);
    for (int i = 0; i < 64; ++i) CHECK((value.data()[i] == 0) == (slope.data()[i] == 0));
  }
}

TEST_CASE("gradients of gradients go through parts that are computed again") {
  own_session own;
  const auto x = placeholder<double>({}, "x");
  const expr<double> y = recompute([&]() -> expr<double> { return sin(expr<double>(exp(x))) * x; });
  const expr<double> plain = sin(expr<double>(exp(x))) * x;
  const auto [a] = gradients(y, x);
  const auto [b] = gradients(plain, x);
  const auto [aa] = gradients(a, x);
  const auto [bb] = gradients(b, x);
  const auto [aaa] = gradients(aa, x);
  const auto [bbb] = gradients(bb, x);
  for (const double at : {-.3, .7}) {
    const auto at_x = [&](const expr<double>& e) -> double { return own.sess.run({{x, at}}, e); };
    CHECK(at_x(a) == at_x(b));
    CHECK(at_x(aa) == Approx(at_x(bb)));
    CHECK(at_x(aaa) == Approx(at_x(bbb)));
  }
}

namespace {

// The bytes that are in use at once in a step that trains a chain of blocks.
std::int64_t bytes_in_use(int blocks, bool again, bool optimize, int inter_op_threads = 1) {
  own_graph own;
  const auto x = placeholder<float>({256, 32}, "x");
  expr<float> h = x;
  for (int i = 0; i < blocks; ++i) {
    const auto block = [&]() -> expr<float> {
      const expr<float> a = tanh(matmul(h, weights({32, 32})));
      const expr<float> b = sin(expr<float>(matmul(a, weights({32, 32})))) * a;
      const expr<float> c = tanh(matmul(b, weights({32, 32})));
      return tanh(matmul(c, weights({32, 32}))) * b;
    };
    h = again ? recompute(block) : block();
  }
  const auto [dx] = gradients(reduce_sum(square(h)), x);
  session sess{{.inter_op_threads = inter_op_threads, .intra_op_threads = 1, .optimize = optimize}};
  sess.run(global_variables_initializer());
  for (int i = 0; i < 3; ++i) sess.run({{x, tensor<float>({256, 32})}}, dx);
  return sess.memory().live;
}

}  // namespace

TEST_CASE("a chain of 24 blocks takes at most a third of the memory where each is computed again") {
  for (const bool optimize : {false, true}) {
    const std::int64_t kept = bytes_in_use(24, false, optimize), again = bytes_in_use(24, true, optimize);
    INFO(kept << " " << again);
    CHECK(3 * again <= kept);
    CHECK(again < (24 + 12) * 256 * 32 * 4);  // the inputs of the blocks, and what one block needs
  }
}

TEST_CASE("values wait for the gradients of their part, so that threads that run nodes as they can do not keep them") {
  const std::int64_t kept = bytes_in_use(24, false, true, 4), again = bytes_in_use(24, true, true, 4);
  INFO(kept << " " << again);
  CHECK(2 * again <= kept);
}

namespace {

struct small : own_session {
  expr<float> x = placeholder<float>({4, 4}, "x");
  expr<float> inner, y;
  expr<float> gradient;
  small() {
    y = recompute([&] {
      inner = matmul(x, x, {.name = "inner"});
      return expr<float>(tanh(inner, "y"));
    });
    std::tie(gradient) = gradients(reduce_sum(y), x);
  }
};

}  // namespace

TEST_CASE("copies carry the names, lines and devices of their nodes") {
  small s;
  const node_id copy = s.g.id_of("inner/recompute");
  REQUIRE(copy != no_node);
  CHECK(to_string(s.g[copy].where) == to_string(s.inner.node().where));
  CHECK(s.g[copy].colocation == std::vector<std::string>{"inner"});
  CHECK(!s.g[copy].control_inputs.empty());
  CHECK(s.g[s.g.id_of("y/recompute")].control_inputs.empty());
  CHECK(s.g[s.g.id_of("y/recompute")].inputs[0].node == copy);
}

TEST_CASE("optimization does not make one node of a node and its copy") {
  small s;
  const plan p = s.sess.plan(s.y, s.gradient);
  const placed_node* const copy = p.find("inner/recompute");
  REQUIRE(copy);
  CHECK(copy->runs);
  CHECK(copy->optimized.find("runs as") == std::string::npos);
}

TEST_CASE("a plan tells the bytes that a part does not keep, and the operations that are paid") {
  small s;
  const auto parts = recomputed_parts(s.g);
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].nodes == 2);
  CHECK(parts[0].bytes == 4 * 4 * 4);  // y, which the gradient of tanh reads; that of matmul reads x, which is kept
  CHECK(parts[0].operations >= 2 * 4 * 4 * 4);
  CHECK(parts[0].unknown == 0);
  CHECK(parts[0].first == "inner/recompute");
  const std::string told = to_string(s.sess.plan(s.gradient));
  CHECK(told.find("note: " + to_string(parts[0])) != told.npos);
  CHECK(to_string(s.sess.plan(s.y)).find("computed again") == told.npos);
}

TEST_CASE("a plan says where sizes are not known") {
  own_session own;
  const auto x = placeholder<float>({unknown, 4}, "x");
  const expr<float> y = recompute([&]() -> expr<float> { return tanh(expr<float>(sin(x))); });
  const auto [dx] = gradients(y, x);
  const auto parts = recomputed_parts(own.g);
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].unknown == parts[0].nodes);
  CHECK(to_string(own.sess.plan(dx)).find("of unknown size count in neither") != std::string::npos);
}

TEST_CASE("variables, random draws and constants are kept") {
  own_session own;
  const auto x = placeholder<float>({4}, "x");
  const expr<float> y = recompute([&]() -> expr<float> {
    const auto w = variable(tensor<float>({4}), {.name = "w"});
    const expr<float> drawn = random_uniform<float>({4}, {.name = "drawn"});
    const expr<float> fixed = sin(constant<float>({1, 2, 3, 4}), "fixed");
    return sin(expr<float>(x * w * drawn * fixed), "end");
  });
  const auto [dx] = gradients(y, x);
  CHECK(own.g.id_of("end/recompute") != no_node);
  for (const char* name : {"w/read/recompute", "drawn/recompute", "fixed/recompute"})
    CHECK(own.g.id_of(name) == no_node);
}

TEST_CASE("a part may yield several values, or none, and closes where it throws") {
  own_session own;
  const auto x = placeholder<float>({3}, "x");
  const auto both = recompute([&] { return std::tuple(expr<float>(sin(x)), expr<float>(exp(x))); });
  const expr<float> a = std::get<0>(both), b = std::get<1>(both);
  expr<float> c;
  recompute([&] { c = tanh(a); });
  CHECK_THROWS_AS(recompute([&]() -> expr<float> { throw 1; }), int);
  const expr<float> after = tanh(c, "after");
  const auto [dx] = gradients(a * b * c * after, x);
  CHECK(own.g.id_of("after/recompute") == no_node);
  CHECK(recomputed_parts(own.g).size() == 2);
  const auto [plain] = gradients(sin(x) * exp(x) * tanh(sin(x)) * tanh(tanh(sin(x))), x);
  const auto in = tensor<float>::of({.1f, -.5f, 2.f});
  const auto [found, expected] = own.sess.run({{x, in}}, dx, plain);
  for (int i = 0; i < 3; ++i) CHECK(found.data()[i] == Approx(expected.data()[i]));
}

TEST_CASE("in the body of a loop a part changes nothing") {
  own_session own;
  const auto x = placeholder<float>({3}, "x");
  const auto loop = [&](bool again) {
    const auto [n, y] = while_loop([](const auto& i, const auto&) { return i < 3; },
                                   [&](const auto& i, const auto& v) {
                                     const auto body = [&] { return expr<float>(sin(v) * v); };
                                     return std::tuple(i + 1, again ? recompute(body) : body());
                                   },
                                   constant(0), x);
    return std::get<0>(gradients(y, x));
  };
  const expr<float> kept = loop(false), again = loop(true);
  const auto [a, b] = own.sess.run({{x, tensor<float>::of({.1f, -.5f, 2.f})}}, kept, again);
  CHECK(to_string(a) == to_string(b));
}
