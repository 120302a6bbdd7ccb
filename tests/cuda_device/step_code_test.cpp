// The code of a step's kernels: made together, while the step is made ready.
#include <catch2/catch.hpp>

#include <utility>

#include <pinion/device/cuda/kernel_store.hpp>
#include <pinion/train.hpp>

#include "cuda_device/gpus.hpp"

namespace {

using namespace cuda_tests;

// The kernels that the process has made of text for the first GPU.
pn::cuda::kernel_store::counts made() {
  const auto card = pn::cuda::list_cards().cards.at(0);
  return pn::cuda::kernel_store::of(card.major, card.minor).made();
}

pn::tensor<double> numbers(const pn::shape& extent) {
  pn::tensor<double> t{extent};
  for (std::size_t i = 0; i < t.span().size(); ++i) t.span()[i] = static_cast<double>(i % 7) / 7;
  return t;
}

// The digits' network in double, which no other test compiles: ELU between its layers, cross entropy and momentum.
struct network : world {
  network() {
    pn::expr<double> h = x;
    for (const auto& [inputs, units] : {std::pair{784, 12}, {12, 12}, {12, 10}}) {
      auto w = pn::variable(numbers({inputs, units})), b = pn::variable(numbers({units}));
      h = pn::matmul(h, w) + b;
      if (units == 12) h = pn::elu(h);
    }
    loss = pn::reduce_mean(pn::sparse_softmax_cross_entropy_with_logits(y, h));
    train = pn::train::momentum{{.learning_rate = .05, .momentum = .9}}.minimize(loss);
  }

  pn::device on{"/gpu:0"};
  pn::expr<double> x = pn::placeholder<double>({pn::unknown, 784}, "x"), loss;
  pn::expr<int> y = pn::placeholder<int>({pn::unknown}, "y");
  pn::operation train;
};

TEST_CASE_METHOD(network, "the kernels of a training step are compiled in a unit for each thread before its first run",
                 "[stand-in]") {
  pn::session sess{{.intra_op_threads = 2}};
  sess.run(pn::global_variables_initializer());
  const auto before = made();
  const auto step = sess.make_callable(pn::feeds(x, y), pn::fetches(loss), pn::targets(train));
  const auto ready = made();
  // ELU with a bias and its gradient; sums of gradients and momentum of doubles may be there from other steps.
  const int compiled = ready.compiled - before.compiled;
  CHECK((compiled >= 2 && compiled <= 4));
  CHECK(ready.units - before.units == 2);
  const pn::tensor<int> labels = pn::tensor<int>::of({1, 2, 3, 4});
  for (int i = 0; i < 3; ++i) step(numbers({4, 784}), labels);
  CHECK(made().compiled == ready.compiled);
  CHECK(made().units == ready.units);
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(world, "rows of sparse gradients are compiled before the first run of their step", "[stand-in]") {
  const pn::device on{"/gpu:0"};
  auto table = pn::variable(numbers({5, 3}), {.name = "table"});
  auto rows = pn::placeholder<int>({pn::unknown}, "rows");
  auto train = pn::train::rmsprop{{.learning_rate = .5}}.minimize(pn::reduce_sum(pn::gather(table, rows)));
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  const auto before = made();
  const auto step = sess.make_callable(pn::feeds(rows), pn::fetches(), pn::targets(train));
  const auto ready = made();
  CHECK(ready.compiled > before.compiled);
  step(pn::tensor<int>::of({0, 2, 2, 4}));
  CHECK(made().compiled == ready.compiled);
}

}  // namespace
