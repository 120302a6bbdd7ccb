// Training on a GPU: the steps of a small classifier, and what they meet.
#include <catch2/catch.hpp>

#include <pinion/train.hpp>

#include "cuda_device/gpus.hpp"
#include "model.hpp"

namespace {

using namespace cuda_tests;

// The losses of some steps of the digits' model, small, on a device.
std::vector<float> losses(const std::string& where) {
  pn::graph g;
  const auto use = g.as_default();
  const pn::device on{where};
  const mnist::model m = mnist::build(2, 12, 7, .1);
  auto train = pn::train::momentum{{.learning_rate = .05f, .momentum = .9f}}.minimize(m.loss);
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  pn::tensor<float> x{{5, 784}};
  pn::tensor<int> y{{5}};
  for (std::size_t i = 0; i < x.span().size(); ++i) x.span()[i] = static_cast<float>(i * 7 % 31) / 31;
  for (std::size_t i = 0; i < 5; ++i) y.span()[i] = static_cast<int>(2 * i);
  std::vector<float> all;
  for (int i = 0; i < 4; ++i) {
    const float loss = sess.run({{m.X, x}, {m.y, y}}, m.loss, train);
    all.push_back(loss);
  }
  return all;
}

TEST_CASE_METHOD(machine, "a GPU trains as a CPU does") {
  const auto cpu = losses("/cpu:0"), gpu = losses("/gpu:0");
  for (std::size_t i = 0; i < cpu.size(); ++i) CHECK(gpu[i] == Approx(cpu[i]).epsilon(1e-4));
  CHECK(cpu.front() > cpu.back());
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(world, "a wrong index fails the step with the sentence of the CPU, and the next step is good") {
  pn::session sess;
  for (const char* where : {"/cpu:0", "/gpu:0"}) {
    const pn::device on{where};
    auto rows = pn::placeholder<int>({pn::unknown}, "rows");
    auto taken = pn::gather(pn::constant<float>({1, 2, 3}), rows);
    INFO(where);
    const auto e = caught([&] { sess.run({{rows, {0, 2, 7, -1}}}, taken); });
    CHECK(e.sentence() == "index 7 at position 2 is not in [0, 3)");
    CHECK(e.op() == "Gather");
    CHECK(pn::tensor<float>(sess.run({{rows, {2, 0}}}, taken)) == pn::tensor<float>::of({3, 1}));
  }
}

TEST_CASE_METHOD(world, "a step that meets a wrong label updates no variable behind it, recorded or not") {
  const pn::device on{"/gpu:0"};
  auto w = pn::variable(pn::constant<float>({{1, 2, 3}, {4, 5, 6}}), {.name = "w"});
  auto x = pn::placeholder<float>({2, 2}, "x");
  auto y = pn::placeholder<int>({2}, "y");
  auto loss = pn::reduce_mean(pn::sparse_softmax_cross_entropy_with_logits(y, pn::matmul(x, w)));
  auto train = pn::train::gradient_descent{{.learning_rate = .1}}.minimize(loss);
  pn::session sess;
  sess.run(w.initializer());
  const pn::tensor<float> ones = pn::tensor<float>::of({{1, 0}, {0, 1}});
  for (int i = 0; i < 4; ++i) {
    INFO(i);
    const pn::tensor<float> before = sess.run(w);
    CHECK(caught([&] {
            sess.run({{x, ones}, {y, {0, 3}}}, train);
          }).sentence() == "the label 3 of row 1 is not in [0, 3)");
    CHECK(pn::tensor<float>(sess.run(w)) == before);
    sess.run({{x, ones}, {y, {0, 2}}}, train);
    CHECK(!(pn::tensor<float>(sess.run(w)) == before));
  }
}

}  // namespace
