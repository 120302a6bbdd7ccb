// Scalar programs that a GPU interprets: what they compute, over operands of any shapes.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <pinion/op/elementwise/cuda_interpreted.hpp>

#include "cuda/every_program.hpp"
#include "cuda/map_check.hpp"
#include "cuda/map_run.hpp"
#include "cuda_kernels/map_gpu.hpp"

namespace {

using namespace cuda_tests;

void interpret(const gpu& g, const scalar::program& p, const map_run& run) {
  g.run(p, run, [&](kernel_context& c, auto& addresses) { op::interpreted_map(p).launch(c, run.walk(), addresses); });
}

// Interprets each program over a row that ends within a thread's elements.
void check_all(const std::vector<named_program>& programs) {
  const gpu g;
  for (const auto& [about, p] : programs) {
    const map_run run = row_run(p);
    interpret(g, p, run);
    INFO(about);
    CHECK(misfit(p, run) == "");
  }
}

}  // namespace

TEST_CASE("every op, gradient and rule is interpreted as the laws admit") {
  check_all(programs_of_catalogue());
}

TEST_CASE("the library's fusions are interpreted as the laws admit") {
  check_all(fusions_of_library());
}

TEST_CASE("an interpreted program finds the elements that stand at a place of the space") {
  const gpu g;
  for (const named_program& p : programs_in_forms())
    for (const map_case& of : map_cases(p.program.inputs)) {
      map_run run(p.program, of.inputs, of.is_aligned);
      for (std::size_t k = 0; k < p.program.inputs; ++k) run.count_up(k);
      interpret(g, p.program, run);
      INFO(p.about << ", " << of.about);
      CHECK(run.first_wrong() == "");
    }
}

TEST_CASE("a run may have more elements than threads") {
  const gpu g;
  const scalar::program sum = scalar::executable(*laws::map_program("Add", dtype::int32));
  map_run run(sum, {{1500, 3001}, {3001}});
  run.count_up(0), run.count_up(1);
  interpret(g, sum, run);
  const std::vector<double> x = run.numbers(0), y = run.numbers(1), found = run.numbers(2);
  std::size_t wrong = 0;
  for (std::size_t e = 0; e < found.size(); ++e) wrong += found[e] != x[e] + y[e % 3001];
  CHECK(wrong == 0);
}

TEST_CASE("an interpreted result takes the place of an input") {
  const gpu g;
  const scalar::program sum = scalar::executable(*laws::map_program("Add", dtype::float32));
  map_run run(sum, {{50, 8}, {8}});
  run.count_up(0), run.count_up(1);
  run.share(0, 2);
  interpret(g, sum, run);
  std::vector<double> wanted;
  for (int e = 0; e < 400; ++e) wanted.push_back(e % 7 + e % 8 % 7);
  CHECK(run.numbers(2) == wanted);
}

TEST_CASE("a program of any size is interpreted, with all the inputs and results that one has") {
  // Each value is the sum of the two before it, and all are still needed at the end.
  const gpu g;
  scalar::program p;
  p.arithmetic = dtype::int64;
  std::vector<scalar::value_id> sums;
  for (int i = 0; i < scalar::max_inputs; ++i) sums.push_back(p.emit_input(false));
  while (sums.size() < 500) sums.push_back(p.emit(scalar::opcode::add, sums[sums.size() - 1], sums[sums.size() - 40]));
  scalar::value_id total = sums[0];
  for (const scalar::value_id s : sums) total = p.emit(scalar::opcode::subtract, s, total);
  p.results.push_back({total, dtype::int64});
  while (p.results.size() < scalar::max_results)
    p.results.push_back({sums[sums.size() - p.results.size()], dtype::int64});
  map_run run(p, std::vector<shape>(p.inputs, shape{700}));
  for (std::size_t k = 0; k < p.inputs; ++k) run.fill(k, values(dtype::int64, dtype::int64, 700, unsigned(k)));
  interpret(g, p, run);
  CHECK(misfit(p, run) == "");
}
