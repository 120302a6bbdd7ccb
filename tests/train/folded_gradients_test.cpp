// Updates that follow a product of matrices, which is their gradient, block by block.
#include <catch2/catch.hpp>

#include "train/reference.hpp"

using namespace pinion_tests;

namespace {

// A layer that is wide enough for several blocks.
template <class T>
struct layer : own_graph {
  variable_handle<std::int64_t> step = tr::get_or_create_global_step();
  variable_handle<T> w = variable(filled({784, 100}, 89), {.name = "w"});
  expr<T> x = placeholder<T>({unknown, 784}, "x");
  expr<T> loss = reduce_mean(square(matmul(x, w) - T(1)));

  static tensor<T> filled(const shape& extent, int period) {
    tensor<T> t(extent);
    for (std::int64_t i = 0; i < t.size(); ++i)
      t.data()[i] = static_cast<T>(i % period) / static_cast<T>(period) - T(.4);
    return t;
  }
  // The weights after some steps.
  tensor<T> trained(const operation& train, const session_options& o) const {
    session sess{o};
    sess.run(global_variables_initializer());
    const auto batch = filled({50, 784}, 97);
    for (int i = 0; i < 4; ++i) sess.run({{x, batch}}, train);
    return sess.run(w);
  }
};

// What became of the products of a plan that is a gradient.
std::string fate_of_products(const plan& p) {
  std::string all;
  for (const placed_node& n : p.nodes())
    if (n.op == "MatMul") all += n.optimized + ";";
  return all;
}

template <class T>
void check_optimizers() {
  for (const subject& s : subjects())
    for (const bool scheduled : {false, true}) {
      layer<T> l;
      const auto rate = scheduled ? tr::scalar_value(tr::exponential_decay(.1, l.step)) : tr::scalar_value(.1);
      const auto train = s.minimize(l.loss, rate, l.step);
      INFO(s.name << (scheduled ? ", scheduled" : ""));
      CHECK(fate_of_products(session().plan(train)).find("folded into w/") != std::string::npos);
      const auto folded = l.trained(train, {.inter_op_threads = 1, .intra_op_threads = 1});
      const auto apart = l.trained(train, {.optimize = false});
      const std::vector<double> wanted(apart.span().begin(), apart.span().end());
      CHECK(farthest(folded, wanted) < (std::is_same_v<T, float> ? 2e-4 : 1e-9));
      CHECK(l.trained(train, {.inter_op_threads = 2, .intra_op_threads = 2}).untyped() == folded.untyped());
    }
}

}  // namespace

TEST_CASE("every optimizer updates behind the product that is its gradient, to the same weights") {
  check_optimizers<float>();
  check_optimizers<double>();
}

TEST_CASE("a product that something else reads stays whole") {
  layer<float> l;
  const tr::momentum o{{.learning_rate = .1, .momentum = .9}};
  const auto gradients = o.compute_gradients(l.loss);
  const auto train = o.apply_gradients(gradients);
  const expr<float> fetched(l.g, gradients[0].gradient.dense);
  CHECK(fate_of_products(session().plan(fetched, train)) == ";;");
  CHECK(fate_of_products(session().plan(o.apply_gradients(tr::clip_by_norm(gradients, 5)))) == ";;");
}

TEST_CASE("a variable that the same step reads is not written under its readers") {
  layer<float> l;
  const auto train = tr::momentum{{.learning_rate = .1, .momentum = .9}}.minimize(l.loss);
  session sess;
  sess.run(global_variables_initializer());
  const auto batch = l.filled({50, 784}, 97);
  const tensor<float> before = sess.run(l.w), first = l.filled({784, 100}, 89);
  sess.run({{l.x, batch}}, train);
  CHECK(before.untyped() == first.untyped());
  CHECK(!(sess.run(l.w).untyped() == first.untyped()));
}
