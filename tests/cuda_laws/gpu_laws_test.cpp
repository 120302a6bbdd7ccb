// The laws of kernels on GPUs, over every op that declares a kernel there. On the stand-in maps are interpreted, and
// tests/cuda holds their compiled kernels to the same references. On a real GPU the environment decides.
#include <catch2/catch.hpp>

#include <pinion/device/cuda/compiler.hpp>
#include <pinion/device/cuda/kernel_store.hpp>

#include "cuda_device/gpus.hpp"
#include "laws/kernel_laws.hpp"

namespace {

using namespace laws;

// The first GPU of the machine. On the stand-in nothing compiles its programs.
struct gpu_laws : cuda_tests::machine {
  gpu_laws() {
    if (cuda_tests::stand_in_libraries) setenv("PINION_CUDA_INTERPRET", "1", 1);
    make_cuda_gpu = []() -> std::unique_ptr<devices::device> {
      return std::make_unique<cuda::device>(parse_device("/job:localhost/replica:0/task:0/gpu:0"),
                                            cuda::list_cards().cards[0], std::int64_t{64} << 20, false);
    };
  }
};

// Calls f(name, sample, key) for every sample and every dtype that kernels of GPUs are declared for.
template <class F>
void for_each_gpu_case(F&& f, std::int64_t m = 5, std::int64_t n = 7) {
  for_each_type(op::catalogue{}, [&]<class Op>() {
    for (const sample& s : samples_of(Op::name, m, n))
      for (dtype key : types_of(Op::kernels.gpu))
        if (makes_sense(Op::name, key) && runs_alone(Op::name) && key != dtype::string && key != dtype::invalid &&
            s.numbers != dtype::string)
          f(Op::name, s, key);
  });
}

TEST_CASE_METHOD(gpu_laws, "a GPU computes what plain loops over doubles compute") {
  for_each_gpu_case([](std::string_view op, const sample& s, dtype key) {
    const auto check = [&](const std::vector<any_tensor>& inputs, std::string_view kind) {
      const laws::call c = call_of(op, s, key, inputs);
      const auto want = reference(c);
      if (!want) return;
      INFO(title(op, s, key) << ", " << kind << " values");
      CHECK(fault_of(c, run(c, place::cuda_gpu), *want) == "");
      ledger::get().count("(b) CUDA kernel = plain reference, random, special, empty", op);
    };
    check(random_values(s, key), "random");
    const auto numbers = s.numbers.value_or(key);
    if (!is_floating(numbers) || op == "ProdGrad" || op == "Cast") return;
    const auto rounds = special_values(s, numbers);
    for (std::size_t r = 0; r < rounds.size() - (adds_up(op) ? 2 : 0); ++r) check(rounds[r], "special");
  });
  if (!std::getenv("PINION_CUDA_INTERPRET")) {  // then it is about compiled kernels
    const cuda::card_facts gpu = cuda::list_cards().cards[0];
    const auto made = cuda::kernel_store::of(gpu.major, gpu.minor).made();
    INFO("NVRTC: " << cuda::compiler::of_this_program().problem());
    CHECK(made.compiled + made.from_disk > 100);
  }
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(gpu_laws, "a GPU computes the same bits in every run") {
  for_each_gpu_case(
      [](std::string_view op, const sample& s, dtype key) {
        const laws::call c = call_of(op, s, key);
        INFO(title(op, s, key));
        const auto one = run(c, place::cuda_gpu), more = run(c, place::cuda_gpu);
        REQUIRE(one.size() == more.size());
        for (std::size_t o = 0; o < one.size(); ++o) CHECK(same_bits(one[o], more[o]));
        ledger::get().count("(f) the same bits in every run of a CUDA kernel", op);
      },
      31, 57);
}

}  // namespace
