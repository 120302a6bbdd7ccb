// Children of fork(), in which CUDA does not go on: they are told so, and never hang.
#if !defined(__SANITIZE_THREAD__)  // which starts no threads in a process forked off one with threads
#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include "cuda_device/gpus.hpp"

namespace {

using namespace cuda_tests;

// The text that a child of fork() yields; "it hangs" where it does not end within a minute.
template <class F>
std::string in_child(F f) {
  int ends[2] = {};
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const std::string said = f();
    const bool is_written = write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
    _exit(is_written ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  char part[512];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;) said.append(part, static_cast<std::size_t>(n));
  close(ends[0]);
  int how = 0;
  waitpid(child, &how, 0);
  return WIFSIGNALED(how) ? "it hangs" : said;
}

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

}  // namespace
#endif
