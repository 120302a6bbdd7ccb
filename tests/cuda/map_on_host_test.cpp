// Elementwise kernels in CUDA C, compiled for the host: what they compute, in every form.
#include <catch2/catch.hpp>

#include <pinion/op/elementwise/cuda_map.hpp>
#include <pinion/scalar/cuda_text.hpp>

#include "cuda/every_program.hpp"
#include "cuda/map_check.hpp"
#include "cuda/map_run.hpp"
#include "support/cuda_on_host.hpp"

namespace {

using namespace cuda_tests;

// Compiles all programs as one unit, runs each over a row whose end is no whole vector, and compares.
void check_all(const std::vector<named_program>& programs) {
  cuda_on_host unit(scalar::cuda_prelude());
  std::vector<map_run> runs;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const scalar::program& p = programs[i].program;
    map_run run = row_run(p);
    unit.add(run.text("map" + std::to_string(i)), "map" + std::to_string(i));
    runs.push_back(std::move(run));
  }
  unit.build();
  for (std::size_t i = 0; i < programs.size(); ++i) {
    unit.run("map" + std::to_string(i), runs[i].launch());
    INFO(programs[i].about << "\n" << runs[i].text("map"));
    CHECK(misfit(programs[i].program, runs[i]) == "");
  }
}

}  // namespace

TEST_CASE("the CUDA C of every op, gradient and rule computes what the laws admit") {
  check_all(programs_of_catalogue());
}

TEST_CASE("the CUDA C of the library's fusions computes what the laws admit") {
  check_all(fusions_of_library());
}

TEST_CASE("in each form, the CUDA C finds the elements that stand at a place of the space") {
  cuda_on_host unit(scalar::cuda_prelude());
  std::vector<std::pair<std::string, map_run>> runs;
  for (const named_program& p : programs_in_forms())
    for (const map_case& c : map_cases(p.program.inputs)) {
      map_run run(p.program, c.inputs, c.is_aligned);
      if (c.is_wide) run.widen();
      for (std::size_t k = 0; k < p.program.inputs; ++k) run.count_up(k);
      const std::string name = "map" + std::to_string(runs.size());
      unit.add(run.text(name), name);
      runs.emplace_back(p.about + ", " + c.about, std::move(run));
    }
  unit.build();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& [about, run] = runs[i];
    const std::string name = "map" + std::to_string(i);
    unit.run(name, run.launch());
    INFO(about << "\n" << run.text(name));
    CHECK(run.first_wrong() == "");
  }
}

TEST_CASE("a result takes the place of an input that its thread alone reads") {
  const scalar::program sum = *laws::map_program("Add", dtype::float32);
  map_run run(scalar::executable(sum), {{5, 8}, {8}});
  run.count_up(0), run.count_up(1);
  run.share(0, 2);
  cuda_on_host unit(scalar::cuda_prelude());
  unit.add(run.text("map"), "map");
  unit.build();
  unit.run("map", run.launch());
  std::vector<double> wanted;
  for (int e = 0; e < 40; ++e) wanted.push_back(e % 7 + e % 8 % 7);
  CHECK(run.numbers(2) == wanted);
}
