// Gradients of maps in CUDA C, compiled for the host: sums over the axes along which inputs were broadcast.
#include <catch2/catch.hpp>

#include <pinion/scalar/cuda_text.hpp>

#include "cuda/gradient_run.hpp"
#include "support/cuda_on_host.hpp"

using namespace cuda_tests;

namespace {

// Compiles and runs all cases in a dtype.
void check_all(dtype type, bool is_wide) {
  cuda_on_host unit(scalar::cuda_prelude());
  unit.add(op::cuda_sum_text(type, "sum"), "sum");
  std::vector<std::pair<std::string, gradient_run>> runs;
  for (const auto& [about, inputs] : gradient_cases()) {
    gradient_run run(product_and_sum(type), inputs);
    if (is_wide) run.widen();
    const std::string name = "pass" + std::to_string(runs.size());
    unit.add(run.text(name), name);
    runs.emplace_back(about, std::move(run));
  }
  unit.build();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& [about, run] = runs[i];
    const std::string name = "pass" + std::to_string(i);
    run.run([&](const op::cuda_launch& l) { unit.run(name, l); },
            [&](const op::cuda_launch& l) { unit.run("sum", l); });
    INFO(about << "\n" << run.text(name));
    CHECK(run.first_wrong() == "");
  }
}

}  // namespace

TEST_CASE("gradients in CUDA C are summed over the axes that their inputs lack") {
  check_all(dtype::float32, false);
  check_all(dtype::float64, false);
}

TEST_CASE("gradients in CUDA C are the same with indices of 64 bits") {
  check_all(dtype::float32, true);
}

TEST_CASE(
    "the text of a gradient does not depend on the batch size, nor do sums need memory where a pass finishes them") {
  const scalar::program p = product_and_sum(dtype::float32);
  const auto text = [&](std::int64_t n) { return gradient_run(p, {{n, 32}, {32}, {n, 32}}).text("pass"); };
  CHECK(text(64) == text(6400));

  const std::vector<shape> rows{{500, 32}, {500, 1}, {500, 32}, {500, 32}, {500, 32}, {500, 1}, {500, 32}};
  const broadcast_walk walk({500, 32}, rows);
  const auto d = scalar::executable(scalar::derive(p));
  const std::vector<const void*> nowhere(rows.size());
  const op::cuda_gradient_run run(d, walk, op::cuda_gradient_form_of(d, walk, nowhere));
  for (std::size_t k = 0; k < 3; ++k) CHECK(run.partial_sums(k) == 0);
}

TEST_CASE("a pass computes the results that are wanted, and nothing for the others") {
  const auto all = scalar::executable(scalar::derive(product_and_sum(dtype::float32)));
  const scalar::program second = op::with_results(all, {false, true, false});
  CHECK(second.inputs == all.inputs);
  CHECK(second.results.size() == 1);
  const std::string text = scalar::cuda_element(second);
  CHECK(text.find("const float x3, const float* literal, float& y0)") != text.npos);
  CHECK(text.find("  const number v4 = v3 * v0;\n  v4.put(y0);\n}\n") != text.npos);
  CHECK(text.find("v5") == text.npos);
}
