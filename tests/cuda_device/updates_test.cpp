// Updates of variables on a GPU, by the rows of sparse gradients.
#include <catch2/catch.hpp>

#include <pinion/train.hpp>

#include "cuda_device/gpus.hpp"

namespace {

using namespace cuda_tests;

// A table on the GPU, of which each step looks a few rows up. Each test has programs of its own, since the process
// keeps the kernels of a machine.
struct look_up : world {
  pn::device on{"/gpu:0"};
  pn::variable_handle<double> table =
      pn::variable(pn::tensor<double>::of({{1, 2}, {3, 4}, {5, 6}, {7, 8}}), {.name = "table"});
  pn::expr<int> rows = pn::placeholder<int>({pn::unknown}, "rows");
  pn::expr<double> found = pn::gather(table, rows);
};

}  // namespace

TEST_CASE_METHOD(look_up, "a sparse step of a GPU touches the rows that are looked up, each once") {
  auto train = pn::train::gradient_descent{{.learning_rate = .5}}.minimize(pn::reduce_sum(pn::square(found)));
  pn::session sess;
  sess.run(table.initializer());
  sess.run({{rows, {0, 2, 2}}}, train);
  CHECK(to_string(sess.run(table)) == "[[0, 0], [3, 4], [-5, -6], [7, 8]]");
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(look_up, "momentum of rows that no index names stays on a GPU") {
  auto train = pn::train::momentum{{.learning_rate = .25, .momentum = .5}}.minimize(pn::reduce_sum(found));
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  for (const int row : {0, 1, 0}) sess.run({{rows, {row}}}, train);
  CHECK(to_string(sess.run(table)) == "[[0.375, 1.375], [2.75, 3.75], [5, 6], [7, 8]]");
}

TEST_CASE_METHOD(look_up, "a row that the table lacks fails the step, and leaves the variable as it was") {
  auto train = pn::train::adagrad{{.learning_rate = .5}}.minimize(pn::reduce_sum(found));
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  const auto e = caught([&] { sess.run({{rows, {1, 4}}}, train); });
  CHECK(e.sentence() == "index 4 at position 1 is not in [0, 4)");
  CHECK(to_string(sess.run(table)) == "[[1, 2], [3, 4], [5, 6], [7, 8]]");
}
