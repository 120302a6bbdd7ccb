// What is done to a step before it runs: each pass by the graph before and after it, and by what it leaves alone.
#include <catch2/catch.hpp>

#include <pinion/graph/text.hpp>
#include <pinion/graph/traverse.hpp>
#include <pinion/op/elementwise/compose_maps.hpp>
#include <pinion/op/elementwise/symbolic_shapes.hpp>
#include <pinion/op/layer/fold_transposes.hpp>
#include <pinion/runtime/optimize/fold_constants.hpp>
#include <pinion/runtime/optimize/optimize.hpp>
#include <pinion/runtime/optimize/share_common.hpp>
#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/ends.hpp"
#include "support/own_graph.hpp"
#include "support/tensor_text.hpp"

namespace {

namespace pn = pinion;
namespace rt = pinion::runtime;

struct fresh_graph : own_graph {
  // The step of some fetches as it is placed, then as a pass leaves it.
  template <class... F>
  std::string before(const F&... fetches) {
    auto d = draft_of({}, fetches...);
    d.drop_dead();
    return text(d);
  }
  template <class Pass, class... F>
  std::string after(Pass pass, const F&... fetches) {
    auto d = draft_of({}, fetches...);
    d.count_uses();
    pass(d);
    d.drop_dead();
    return text(d);
  }
  template <class... F>
  rt::placed_draft draft_of(std::vector<pn::output> feeds, const F&... fetches) {
    const rt::step_signature s{std::move(feeds), {end_of(pn::any_expr(fetches))...}, {}};
    placed_ = pn::simple_placer{}(
        {.graph = g,
         .nodes = pn::ancestors(g, s.fetches, s.targets, s.feeds),
         .devices = {{.spec = pn::parse_device(cpu), .name = cpu}, {.spec = pn::parse_device(gpu), .name = gpu}}});
    return {g, placed_, s};
  }
  static std::string text(rt::placed_draft& d) {
    const rt::optimized_step step = d.finished();
    return "\n" + pn::to_text(pn::graph_view::of_settled(*step.graph));
  }

 private:
  static constexpr const char *cpu = "/job:localhost/replica:0/task:0/device:CPU:0",
                              *gpu = "/job:localhost/replica:0/task:0/device:GPU:0";
  pn::placement placed_;
};

const auto fold = [](rt::placed_draft& d) { rt::fold_constants(d, 1 << 20); };
const auto compose = [](rt::placed_draft& d) { pn::op::compose_maps(d); };

struct odd {  // a functor of which no kernel is compiled but its own
  static constexpr int arity = 1;
  static constexpr std::string_view name = "Odd";
  template <class V>
  static constexpr auto apply(V x) {
    return x * 3.0;
  }
};

}  // namespace

TEST_CASE("what is computed from constants alone becomes a constant") {
  fresh_graph f;
  auto a = pn::constant<float>({1, 2}, "a");
  auto x = pn::placeholder<float>({2}, "x");
  auto twice = a + a;
  auto y = pn::identity(twice * x, "y");
  CHECK(f.before(y) == R"(
a = Const() -> float [2]
x = Placeholder() -> float [2]
add = Add(a, a) {add} -> float [2]
mul = Mul(add, x) {mul} -> float [2]
y = Identity(mul) -> float [2]
)");
  CHECK(f.after(fold, y) == R"(
x = Placeholder() -> float [2]
add = Const() -> float [2]
mul = Mul(add, x) {mul} -> float [2]
y = Identity(mul) -> float [2]
)");
}

TEST_CASE("known shapes become constants; large results, random numbers and what follows others are left") {
  fresh_graph f;
  auto x = pn::placeholder<float>({2, 3}, "x");
  auto open = pn::placeholder<float>({pn::unknown, 3}, "open");
  auto known = pn::shape_of(x), unknown = pn::shape_of(open, "Shape_1");
  CHECK(f.after(fold, known, unknown) == R"(
open = Placeholder() -> float [?, 3]
Shape = Const() -> int32 [2]
Shape_1 = Shape(open) -> int32 [2]
)");
  auto big = pn::tile(pn::ones<float>({1000}), {1000});
  auto drawn = pn::random_uniform<float>({2});
  CHECK(f.after(fold, big, drawn) == f.before(big, drawn));
  auto v = pn::variable(1.0f, {.name = "v"});
  auto up = pn::assign_add(v, 1.0f);
  pn::control_dependencies after{up};
  auto two = pn::constant(2.0f, "two");
  auto y = pn::identity(two, "after_up");
  CHECK(f.after(fold, y) == f.before(y));
}

TEST_CASE("what changes a state is run, though only its shape is asked for") {
  fresh_graph f;
  auto n = pn::variable(0.0f, {.name = "n"});
  auto c = pn::constant<float>({{1, 2}, {3, 4}}, "c");
  auto up = pn::assign_add(n, 1.0f);
  auto extent = pn::shape_of(up);
  auto turned = [&] {
    pn::control_dependencies after{up};
    return pn::transpose(c, {1, 0});
  }();
  auto y = pn::matmul(turned, c);
  pn::session sess;
  sess.run(n.initializer());
  sess.run(extent);
  CHECK(float(sess.run(n)) == 1);
  sess.run(y);
  CHECK(float(sess.run(n)) == 2);
}

TEST_CASE("0 and -0 are two numbers") {
  fresh_graph f;
  auto x = pn::placeholder<float>({}, "x");
  auto a = x * 0.0f, b = x * -0.0f;
  auto p = 1.0f / a, q = 1.0f / b;
  pn::session sess;
  const auto [up, down] = sess.run({{x, 1.0f}}, p, q);
  CHECK((float(up) > 0 && float(down) < 0));
}

TEST_CASE("a constant that is fed is not folded") {
  fresh_graph f;
  auto a = pn::constant(1.0f, "a");
  auto y = pn::exp(a);
  auto d = f.draft_of({end_of(a)}, y);
  CHECK(rt::fold_constants(d, 1 << 20) == 0);
  pn::session sess;
  CHECK(float(sess.run({{a, 0.0f}}, y)) == 1);
  CHECK(float(sess.run(y)) == Approx(std::exp(1)));
}

TEST_CASE("a constant that would take long is not folded, though it be small") {
  fresh_graph f;
  auto image = pn::constant(pn::tensor<float>({1, 191, 191, 1}));
  auto small = pn::max_pool(image, {.window = {2, 2}, .strides = {64, 64}});
  auto wide = pn::max_pool(image, {.window = {128, 128}, .strides = {1, 1}});
  auto d = f.draft_of({}, small), other = f.draft_of({}, wide);
  CHECK(rt::fold_constants(d, 1 << 20) == 1);
  CHECK(rt::fold_constants(other, 1 << 20) == 0);
}

TEST_CASE("a constant that fails to fold fails when it runs, at its node") {
  fresh_graph f;
  auto y = pn::gather(pn::constant<float>({1, 2}), pn::constant<int>({7, 8}));
  pn::session sess;
  const auto e = caught([&] { sess.run(y); });
  CHECK(e.sentence() == "index 7 at position 0 is not in [0, 2)");
  CHECK(e.node() == "Gather");
}

TEST_CASE("nodes that compute the same are one, states never") {
  fresh_graph f;
  auto x = pn::placeholder<float>({2, 2}, "x");
  auto a = pn::matmul(x, x), b = pn::matmul(x, x), c = pn::matmul(x, x, {.transpose_a = true});
  auto p = pn::exp(a), q = pn::exp(b);
  auto y = p + q;
  CHECK(f.after([](auto& d) { rt::share_common(d); }, y, c) == R"(
x = Placeholder() -> float [2, 2]
MatMul = MatMul(x, x) -> float [2, 2]
MatMul_2 = MatMul(x, x) transpose_a -> float [2, 2]
Exp = Exp(MatMul) {exp} -> float [2, 2]
add = Add(Exp, Exp) {add} -> float [2, 2]
)");
  auto r = pn::random_uniform<float>({2}), s = pn::random_uniform<float>({2});
  auto v = pn::variable(1.0f, {.name = "v"});
  auto up = pn::assign_add(v, 1.0f), again = pn::assign_add(v, 1.0f);
  CHECK(f.after([](auto& d) { rt::share_common(d); }, r, s).find("RandomUniform_1") != std::string::npos);
  CHECK(f.after([](auto& d) { rt::share_common(d); }, up, again).find("AssignAdd_1") != std::string::npos);
  auto e = pn::exp(x, "mine"), h = pn::exp(x, "yours");  // both are fetched: one is computed, both are given
  pn::session sess;
  const auto [first, second] = sess.run({{x, {{0, 0}, {0, 0}}}}, e, h);
  CHECK(first == second);
}

TEST_CASE("the same on another device, or after something else, is another") {
  fresh_graph f;
  auto x = pn::placeholder<float>({2}, "x");
  auto here = pn::place<"/cpu:0">(pn::exp(x, "here"));
  auto there = pn::place<"/gpu:0">(pn::exp(x, "there"));
  auto v = pn::variable(1.0f, {.name = "v"});
  auto up = pn::assign_add(v, 1.0f);
  pn::control_dependencies after{up};
  auto later = pn::exp(x, "later");
  const auto text = f.after([](auto& d) { rt::share_common(d); }, here, there, later);
  INFO(text);
  for (const char* name : {"here = ", "there = ", "later = "}) CHECK(text.find(name) != std::string::npos);
}

TEST_CASE("a product reads transposed matrices the other way round") {
  fresh_graph f;
  auto x = pn::placeholder<float>({2, 3}, "x"), w = pn::placeholder<float>({2, 4}, "w");
  auto xt = pn::transpose(x, {1, 0});
  auto y = pn::matmul(xt, w);
  auto z = pn::matmul(xt, xt, {.transpose_a = true});
  const auto pass = [](rt::placed_draft& d) { pn::op::fold_transposes(d); };
  CHECK(f.before(y) == R"(
x = Placeholder() -> float [2, 3]
w = Placeholder() -> float [2, 4]
Transpose = Transpose(x) -> float [3, 2]
MatMul = MatMul(Transpose, w) -> float [3, 4]
)");
  CHECK(f.after(pass, y) == R"(
x = Placeholder() -> float [2, 3]
w = Placeholder() -> float [2, 4]
MatMul = MatMul(x, w) transpose_a -> float [3, 4]
)");
  CHECK(f.after(pass, z) == R"(
x = Placeholder() -> float [2, 3]
MatMul_1 = MatMul(x, x) transpose_b -> float [2, 2]
)");
  pn::session sess, plain{{.optimize = false}};
  const pn::tensor<float> a = pn::tensor<float>::of({{1, 2, 3}, {4, 5, 6}}),
                          b = pn::tensor<float>::of({{1, 2, 3, 4}, {5, 6, 7, 8}});
  CHECK(sess.run({{x, a}, {w, b}}, y) == plain.run({{x, a}, {w, b}}, y));
  CHECK(sess.run({{x, a}}, z) == plain.run({{x, a}}, z));
}

TEST_CASE("maps that one map alone reads join it, where a kernel is there for the whole") {
  fresh_graph f;
  auto x = pn::placeholder<float>({4}, "x");
  {
    (void)pn::exp(x * 2.0f + x);  // puts the kernel of the whole into this program
  }
  auto a = x * 2.0f;
  auto b = a + x;
  auto y = pn::exp(b);
  CHECK(f.after(compose, y) == R"(
x = Placeholder() -> float [4]
Exp_1 = Exp(x, x) {mul, add, exp} -> float [4]
)");
  auto c = pn::map<odd>(x);
  auto z = pn::sqrt(c);  // each has a kernel of its own, the whole would be interpreted
  CHECK(f.after(compose, z) == f.before(z));
}

TEST_CASE("what is fetched, read twice, broadcast or cast stays a node") {
  fresh_graph f;
  auto x = pn::placeholder<float>({4}, "x");
  (void)pn::exp(x * 2.0f);
  auto a = x * 2.0f;
  auto y = pn::exp(a);
  CHECK(f.after(compose, y, a) == f.before(y, a));
  auto other = a - x;
  CHECK(f.after(compose, y, other).find("Mul(x)") != std::string::npos);
  auto scalar = pn::placeholder<float>({}, "s");
  auto s = scalar * 2.0f;
  auto narrow = pn::exp(s, "narrow");
  auto sum = narrow + x;
  CHECK(f.after(compose, sum).find("narrow = ") != std::string::npos);
  auto n = pn::cast<int>(a);
  CHECK(f.after(compose, n) == f.before(n));
}

TEST_CASE("maps of an unknown batch join where the extents are the same in every run") {
  fresh_graph f;
  auto x = pn::placeholder<float>({pn::unknown, 4}, "x"), y = pn::placeholder<float>({pn::unknown, 4}, "y");
  auto w = pn::placeholder<float>({4, 3}, "w"), b = pn::placeholder<float>({3}, "b");
  auto product = pn::matmul(x, w);
  auto z = product + b;
  auto h = pn::elu(z);
  CHECK(f.after(compose, h) == R"(
x = Placeholder() -> float [?, 4]
w = Placeholder() -> float [4, 3]
b = Placeholder() -> float [3]
MatMul = MatMul(x, w) -> float [?, 3]
Elu = Elu(MatMul, b) {add, min, lt, expm1, select} -> float [?, 3]
)");
  auto sum = x + y;
  auto scaled = sum * y;  // the batch is that of x and y in both
  CHECK(f.after(compose, scaled).find("(x, y, y)") != std::string::npos);
  auto twice = pn::exp(y);
  auto apart = twice - x;  // y may have one row, and x many
  CHECK(f.after(compose, apart) == f.before(apart));
  auto any = pn::placeholder<float>(pn::shape::any(), "any");
  auto e = pn::exp(any);
  auto n = e * 2.0f;
  CHECK(f.after(compose, n).find("(any)") != std::string::npos);
}

TEST_CASE("an op that keeps an unknown extent tells so, and one that changes it does not") {
  fresh_graph f;
  const auto x = pn::placeholder<float>({pn::unknown, 4}, "x"), y = pn::placeholder<float>({pn::unknown, 4}, "y");
  const auto labels = pn::placeholder<int>({pn::unknown}, "labels");
  // The first extent of the last fetch, and of another.
  const auto agree = [&](const auto& a, const auto& b) {
    const rt::placed_draft d = f.draft_of({}, a, b);
    const pn::op::symbolic_shapes shapes(d);
    const auto first = [&](const auto& e) {
      const std::string name = e.name();
      for (pn::node_id i = 0; i < d.size(); ++i)
        if (d.node_at(i).name == name) return shapes.of({i, 0})->at(0);
      FAIL("no node " + name);
      return std::int64_t{};
    };
    return first(a) == first(b);
  };
  CHECK(agree(x, pn::softmax(x)));
  CHECK(agree(x, pn::concat({x, x}, 1)));
  CHECK(agree(x, pn::squeeze(pn::expand_dims(x, 1), {1})));
  CHECK(agree(x, pn::slice(x, {0, 1}, {-1, 2})));
  CHECK(agree(x, pn::slice(x, {1, 1}, {-1, 2})) == false);
  CHECK(agree(x, pn::pad(x, {{0, 0}, {1, 1}})));
  CHECK(agree(x, pn::pad(x, {{0, 1}, {1, 1}})) == false);
  CHECK(agree(labels, pn::one_hot<float>(labels, 3)));
  CHECK(agree(labels, pn::gather(x, labels)));
  CHECK(agree(x, pn::argmax(x, 1)));
  CHECK(agree(x, pn::reduce_sum(x, 1)));
  CHECK(agree(y, pn::reduce_sum(x, 1)) == false);
  CHECK(agree(x, x + y) == false);
  CHECK(agree(x + y, y * x));
  CHECK(agree(x, pn::concat({x, x}, 0)) == false);
  CHECK(agree(x, pn::split<2>(x, 0)[0]) == false);
  CHECK(agree(x, pn::split<2>(x, 1)[0]));
  CHECK(agree(x, pn::tile(x, {2, 1})) == false);
  CHECK(agree(x, pn::tile(x, {1, 2})));
}

TEST_CASE("the gradients of statements join as those of one expression do") {
  fresh_graph f;
  auto x = pn::placeholder<float>({pn::unknown, 4}, "x");
  auto w = pn::variable(pn::tensor<float>({4, 3}), {.name = "w"});
  auto b = pn::variable(pn::tensor<float>({3}), {.name = "b"});
  auto product = pn::matmul(x, w);
  auto z = product + b;
  auto h = pn::elu(z);
  auto loss = pn::reduce_sum(pn::matmul(h, w, {.transpose_b = true}));
  const auto [dw, db] = pn::gradients(loss, w, b);
  const auto both = f.after(compose, loss, dw, db);
  INFO(both);
  std::size_t gradients = 0;
  for (auto at = both.find("= MapGrad("); at != both.npos; at = both.find("= MapGrad(", at + 1)) ++gradients;
  CHECK(gradients == 1);
}

TEST_CASE("dead nodes are dropped, and a whole step yields what it did") {
  fresh_graph f;
  auto x = pn::placeholder<float>({3, 3}, "x");
  auto w = pn::variable(pn::constant<float>({{1, 0, 2}, {0, 1, 0}, {3, 0, 1}}), {.name = "w"});
  auto scale = pn::exp(pn::constant(0.5f)) * 2.0f;
  auto h = pn::matmul(pn::transpose(x, {1, 0}), w) * scale;
  auto y = pn::tanh(h) + pn::tanh(h);
  auto loss = pn::reduce_sum(y);
  auto [g] = pn::gradients(loss, w);
  const auto text =
      f.after([](rt::placed_draft& d) { fold(d), pn::op::fold_transposes(d), rt::share_common(d); }, loss, g);
  CHECK(text.find("Transpose =") == std::string::npos);
  CHECK(text.find("Tanh_1") == std::string::npos);
  pn::session sess, plain{{.optimize = false}};
  sess.run(w.initializer());
  plain.run(w.initializer());
  const pn::tensor<float> a = pn::tensor<float>::of({{.1f, .2f, .3f}, {.4f, .5f, .6f}, {.7f, .8f, .9f}});
  const auto [l1, g1] = sess.run({{x, a}}, loss, g);
  const auto [l2, g2] = plain.run({{x, a}}, loss, g);
  CHECK(float(l1) == Approx(float(l2)));
  for (int i = 0; i < 9; ++i) CHECK(g1.data()[i] == Approx(g2.data()[i]));
}
