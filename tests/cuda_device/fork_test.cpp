// Children of fork(), in which CUDA does not go on: they are told so, and never hang.
#if !defined(__SANITIZE_THREAD__)  // which starts no threads in a process forked off one with threads
#include <catch2/catch.hpp>

#include <pinion/tensor/page_locked.hpp>
#include <support/in_child.hpp>

#include "cuda_device/gpus.hpp"

namespace {

using namespace cuda_tests;

constexpr const char* behind_fork = "CUDA was used before fork(), and it does not go on in the child";

TEST_CASE_METHOD(world, "a child of fork() is told that its parent's session cannot go on, be the step ready or new",
                 "[stand-in]") {
  const pn::device on{"/gpu:0"};
  auto x = pn::placeholder<float>({2}, "x");
  const pn::expr<float> known(x * 3.f), fresh(x - 3.f);
  pn::session sess;
  CHECK(pn::tensor<float>(sess.run({{x, {1, 2}}}, known)) == pn::tensor<float>::of({3, 6}));
  CHECK_THAT(in_child([&] { return failure([&] {
                              sess.run({{x, {1, 2}}}, known);
                            }); }),
             Catch::StartsWith("failed_precondition: the session was made before fork()"));
  CHECK_THAT(in_child([&] { return failure([&] { sess.run({{x, {1, 2}}}, fresh); }); }), Catch::Contains(behind_fork));
  CHECK(pn::tensor<float>(sess.run({{x, {1, 2}}}, known)) == pn::tensor<float>::of({3, 6}));
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(world, "a child of fork() whose parent has listed the GPUs finds none, and its CPU is good",
                 "[stand-in]") {
  const pn::session parent;
  pn::expr<float> y;
  {
    const pn::device on{"/gpu:0"};
    y = pn::expr<float>(pn::constant<float>({1, 2}) + 2.f);
  }
  CHECK_THAT(in_child([&] { return failure([&] { pn::session().run(y); }); }), Catch::Contains(behind_fork));
  const pn::device on{"/cpu:0"};
  auto z = pn::constant<float>({1, 2}) + 2.f;
  CHECK(in_child([&] { return to_string(pn::session().run(z)); }) == "[3, 4]");
}

TEST_CASE_METHOD(machine, "a GPU that a parent used refuses a child, and calls back", "[stand-in]") {
  pn::cuda::device gpu(pn::parse_device(gpu_0), pn::cuda::list_cards().cards[0], 1 << 20, false);
  gpu.stream()->synchronize();
  CHECK_THAT(in_child([&] { return failure([&] { gpu.stream()->synchronize(); }); }), Catch::Contains(behind_fork));
  CHECK_THAT(in_child([&] {
               std::string said;
               gpu.stream()->when_reached([&](const pn::outcome<>& how) { said = how.failure()->what(); });
               return said;
             }),
             Catch::Contains(behind_fork));
}

TEST_CASE_METHOD(machine, "a child of fork() writes to a copy of its parent's page-locked tensor", "[stand-in]") {
  pn::cuda::device gpu(pn::parse_device(gpu_0), pn::cuda::list_cards().cards[0], 1 << 20, false);
  gpu.stream()->synchronize();
  auto x = pn::page_locked<float>({3});
  const auto shared = x;
  CHECK(in_child([&] {
          x(1) = 2;
          return to_string(x) + to_string(shared);
        }) == "[0, 2, 0][0, 0, 0]");
}

}  // namespace
#endif
