// A program's part of a GPU. On a real one two programs run this beside each other (tests/gpu.sh).
#include <catch2/catch.hpp>

#include "cuda_device/gpus.hpp"

namespace {

using namespace cuda_tests;

TEST_CASE_METHOD(world, "a program computes within its part of a GPU, taken at once or as it grows", "[part]") {
  const std::int64_t memory = pn::cuda::list_cards().cards.at(0).memory;
  const pn::device on{"/gpu:0"};
  auto x = pn::placeholder<float>({pn::unknown}, "x");
  auto y = pn::reduce_sum(pn::sqrt(x * x) + 1.f);
  for (const bool grows : {true, false}) {
    pn::session sess{{.gpu = {.per_process_memory_fraction = .25, .allow_growth = grows}}};
    CHECK(sess.list_devices()[1].memory_limit == memory / 4);
    for (int i = 0; i < 200; ++i) {
      const std::int64_t n = std::int64_t{1} << (i / 10);
      pn::tensor<float> ones({n});
      std::fill(ones.span().begin(), ones.span().end(), 1.f);
      CHECK(float(sess.run({{x, ones}}, y)) == static_cast<float>(2 * n));
    }
  }
  CHECK(fake_cuda::take_misuses().empty());
}

}  // namespace
