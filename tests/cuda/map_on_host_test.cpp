// Elementwise kernels in CUDA C, compiled for the host: what they compute, in every form.
#include <catch2/catch.hpp>

#include <pinion/op/elementwise/cuda_map.hpp>
#include <pinion/op/elementwise/runner.hpp>
#include <pinion/scalar/cuda_text.hpp>

#include "cuda/every_program.hpp"
#include "cuda/map_run.hpp"
#include "laws/reference.hpp"
#include "support/cuda_on_host.hpp"

namespace {

using namespace cuda_tests;

// The values of one input: special ones first, then random ones that all dtypes hold.
std::vector<double> values(dtype type, dtype arithmetic, std::int64_t count, unsigned seed) {
  std::mt19937 bits(seed);
  std::vector<double> all;
  if (is_floating(type)) all = {0.0, -0.0, 1, -1, .5, 2, INFINITY, -INFINITY, NAN, 1e-40, 1e30, -1e30, 88, -104};
  if (is_integer(type)) all = {0, 0, 1, 2, 3, 250};
  if (type == dtype::int32 || type == dtype::int64) all.insert(all.end(), {-1, -2, INT32_MAX, INT32_MIN});
  while (static_cast<std::int64_t>(all.size()) < count) {
    const double x = std::uniform_real_distribution<double>(-10, 10)(bits);
    all.push_back(type == dtype::boolean ? x > 0 : is_floating(arithmetic) ? x : std::floor(std::abs(x)));
  }
  std::shuffle(all.begin(), all.end(), bits);
  return all;
}

// Runs a program on CPU kernels over the inputs of a run.
std::vector<any_tensor> computed_by_cpu(const scalar::program& p, const map_run& run) {
  const op::program_runner runner(p);
  std::vector<any_tensor> results;
  scalar::strip s;
  s.n = run.space().count();
  for (std::size_t i = 0; i < p.inputs; ++i) s.in[i] = run.address(i), s.advance[i] = ~std::int64_t{0};
  for (std::size_t k = 0; k < p.results.size(); ++k) {
    results.emplace_back(p.results[k].type, run.space());
    s.out[k] = results[k].byte_data(), s.how[k] = scalar::sink::store;
  }
  runner(s);
  return results;
}

// True for a number that a cast turns into an unspecified integer.
bool is_out_of_range(double value, dtype type) {
  if (!is_integer(type)) return false;
  return visit_plain(type, [&]<class T>() {
    using limits = std::numeric_limits<T>;
    return !(value > static_cast<double>(limits::lowest()) - 1 && value < static_cast<double>(limits::max()));
  });
}

// The first element of a result that the laws do not admit, in words; "" if there is none. Whole numbers are those of
// the CPU's kernels.
std::string misfit(const scalar::program& p, const map_run& run) {
  std::vector<std::vector<double>> x;
  for (std::size_t i = 0; i < p.inputs; ++i) x.push_back(run.numbers(i));
  const std::vector<any_tensor> cpu = computed_by_cpu(p, run);
  for (std::size_t k = 0; k < p.results.size(); ++k) {
    const auto got = run.numbers(p.inputs + k), wanted = laws::numbers(cpu[k]);
    for (std::size_t e = 0; e < got.size(); ++e) {
      std::vector<double> at;
      for (const auto& input : x) at.push_back(input[e]);
      const laws::ranged range = laws::evaluator(p, at).result(k);
      const bool fits = is_floating(p.arithmetic) ? is_out_of_range(range.value, p.results[k].type) ||
                                                        laws::admits(range, got[e], p.results[k].type)
                                                  : got[e] == wanted[e];
      if (fits) continue;
      std::string text = "result " + std::to_string(k) + " of";
      for (const double v : at) text += " " + std::to_string(v);
      return text + ": " + std::to_string(got[e]) + ", on the CPU " + std::to_string(wanted[e]) + ", plainly " +
             std::to_string(range.value) + " +- " + std::to_string(range.slack);
    }
  }
  return "";
}

// Compiles all programs as one unit, runs each over a row whose end is no whole vector, and compares.
void check_all(const std::vector<named_program>& programs) {
  cuda_on_host unit(scalar::cuda_prelude());
  std::vector<map_run> runs;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const scalar::program& p = programs[i].program;
    const shape row{83};
    map_run run(p, std::vector<shape>(p.inputs, row));
    const std::vector<dtype> types = scalar::input_types(p);
    for (std::size_t k = 0; k < types.size(); ++k)
      run.fill(k, values(types[k], p.arithmetic, row.count(), 3 + static_cast<unsigned>(k)));
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
