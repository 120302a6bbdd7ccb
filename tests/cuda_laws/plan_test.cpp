// What a plan says of a GPU for whose programs there is no compiler.
#include <catch2/catch.hpp>

#include "cuda_device/gpus.hpp"

namespace {

using namespace cuda_tests;

// Nothing compiles programs for the GPUs of this room on the stand-in.
const bool interprets = stand_in_libraries && setenv("PINION_CUDA_INTERPRET", "1", 1) == 0;

TEST_CASE("a plan says which maps a GPU interprets", "[stand-in]") {
  REQUIRE(interprets);
  world w;
  const pn::device on{"/gpu:0"};
  auto x = pn::placeholder<float>({3}, "x");
  auto y = pn::matmul(pn::reshape(pn::tanh(x), {1, 3}), pn::reshape(x, {3, 1}));
  pn::session sess;
  const pn::plan plan = sess.plan(y);
  CHECK(plan.find("Tanh")->kernel == "CUDA, interpreted");
  CHECK(plan.find("MatMul")->kernel == "CUDA by cuBLASLt");
}

}  // namespace
