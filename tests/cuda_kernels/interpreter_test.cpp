// Scalar programs that a GPU interprets: what they compute, over operands of any shapes.
#include <catch2/catch.hpp>

#include <cstring>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <pinion/device/cuda/device.hpp>
#include <pinion/op/elementwise/cuda_interpreted.hpp>

#include "cuda/every_program.hpp"
#include "cuda/map_check.hpp"
#include "cuda/map_run.hpp"

namespace {

using namespace cuda_tests;

class gpu {
 public:
  gpu() : devices_(cuda::make_devices({}, {}).devices) { REQUIRE(!devices_.empty()); }

  devices::device& device() const { return *devices_[0]; }
  any_tensor here(const any_tensor& value) const {
    std::promise<any_tensor> copied;
    device().to_host(value, [&](outcome<any_tensor> copy) { copied.set_value(copy.value()); });
    return copied.get_future().get();
  }
  // Runs a program over the operands of a run. Operands that share memory there do so on the GPU.
  void interpret(const scalar::program& p, const map_run& run) const {
    std::vector<any_tensor> there;
    std::vector<const void*> addresses;
    for (std::size_t k = 0; k < run.operands(); ++k) {
      any_tensor memory = device().from_host(run.memory(k));
      for (std::size_t before = 0; before < k; ++before)
        if (run.memory(before).raw() == run.memory(k).raw()) memory = there[before];
      there.push_back(memory);
      addresses.push_back(memory.byte_data() + run.skipped(k));
    }
    kernel_context c;
    c.device = &device();
    op::interpreted_map(p).launch(c, run.walk(), addresses);
    for (std::size_t k = p.inputs; k < run.operands(); ++k)
      std::memcpy(run.memory(k).byte_data(), here(there[k]).byte_data(), run.memory(k).bytes());
  }

 private:
  std::vector<std::unique_ptr<devices::device>> devices_;
};

// Interprets each program over a row that ends within a thread's elements.
void check_all(const std::vector<named_program>& programs) {
  const gpu g;
  for (const auto& [about, p] : programs) {
    const shape row{83};
    map_run run(p, std::vector<shape>(p.inputs, row));
    const std::vector<dtype> types = scalar::input_types(p);
    for (std::size_t k = 0; k < types.size(); ++k)
      run.fill(k, values(types[k], p.arithmetic, row.count(), 3 + static_cast<unsigned>(k)));
    g.interpret(p, run);
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
      g.interpret(p.program, run);
      INFO(p.about << ", " << of.about);
      CHECK(run.first_wrong() == "");
    }
}

TEST_CASE("a run may have more elements than threads") {
  const gpu g;
  const scalar::program sum = scalar::executable(*laws::map_program("Add", dtype::int32));
  map_run run(sum, {{1500, 3001}, {3001}});
  run.count_up(0), run.count_up(1);
  g.interpret(sum, run);
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
  g.interpret(sum, run);
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
  g.interpret(p, run);
  CHECK(misfit(p, run) == "");
}
