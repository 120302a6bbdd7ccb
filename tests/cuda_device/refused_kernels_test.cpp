// Programs whose kernels the compiler or the driver refuses: the GPU interprets them, which is told once.
#include <catch2/catch.hpp>

#include <cmath>

#include <pinion/device/cuda/compiler.hpp>

#include "cuda_device/gpus.hpp"
#include "support/told_lines.hpp"

namespace {

using namespace cuda_tests;

// A machine whose NVRTC refuses texts with a part.
struct refusing : world {
  refusing() { setenv("PINION_FAKE_NVRTC_REFUSES", "log1p(v", 1); }
  ~refusing() { unsetenv("PINION_FAKE_NVRTC_REFUSES"); }

  // Runs a function of [1, 3] on the GPU twice, each time as a node of its own. Returns the results, and what is told.
  template <class F>
  std::pair<pn::tensor<float>, std::string> run_twice(F f) {
    const told_lines lines;
    const pn::device on{"/gpu:0"};
    auto x = pn::placeholder<float>({2}, "x");
    pn::tensor<float> found;
    for (int i = 0; i < 2; ++i) {
      auto y = f(x);
      pn::session sess;
      found = sess.run({{x, {1, 3}}}, y);
    }
    return {found, lines.all()};
  }
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE_METHOD(refusing, "a program that NVRTC refuses is interpreted, which is told once: node, log and program",
                 "[stand-in]") {
  const auto [found, told] = run_twice([](auto x) { return pn::log1p(x) + 2.f; });
  CHECK(found.span()[0] == Approx(std::log(2) + 2));
  CHECK(found.span()[1] == Approx(std::log(4) + 2));
  CHECK(count(told, "pinion: ") == 1);
  CHECK_THAT(told, Catch::Contains("pinion: the GPU interprets the program of node 'add' (Add), since NVRTC refuses a "
                                   "kernel (NVRTC_ERROR_COMPILATION): pinion.cu(1): error: the test wants this text to "
                                   "be refused; the program:\n"));
  CHECK_THAT(told, Catch::Contains("= log1p %0\n"));
}

TEST_CASE_METHOD(world, "an NVRTC that itself fails counts as missing, with what mends it, and is told of once",
                 "[stand-in]") {
  const pn::cuda::compiler own;
  const auto compile = [&] { return failure([&] { own.compile(R"(extern "C" __global__ void none() {})", 9, 0); }); };
  REQUIRE(own.is_there());
  CHECK(!own.has_news());
  setenv("PINION_FAKE_NVRTC_FAILS", "1", 1);
  const std::string why = compile();
  unsetenv("PINION_FAKE_NVRTC_FAILS");
  CHECK_THAT(why, Catch::StartsWith("unavailable: NVRTC " + own.version() +
                                    " itself fails (NVRTC_ERROR_BUILTIN_OPERATION_FAILURE: nvrtc: error: failed to "
                                    "open libnvrtc-builtins.so.), so GPUs interpret programs; "));
  CHECK(!own.is_there());
  CHECK("unavailable: " + own.problem() == why);
  CHECK(compile() == why);  // until the process ends
  CHECK(own.has_news());
  CHECK(!own.has_news());
}

TEST_CASE_METHOD(refusing, "a plan says that a program is interpreted once its code was refused", "[stand-in]") {
  const pn::device on{"/gpu:0"};
  auto x = pn::placeholder<float>({2}, "x");
  auto y = pn::log1p(x) - 7.f;
  pn::session sess;
  CHECK(sess.plan(y).find(y.name())->kernel == "CUDA by NVRTC");
  const told_lines lines;
  sess.run({{x, {1, 3}}}, y);
  CHECK(sess.plan(y).find(y.name())->kernel == "CUDA, interpreted, since its code was refused");
}

TEST_CASE_METHOD(refusing, "gradients that NVRTC refuses are interpreted and added up", "[stand-in]") {
  const told_lines lines;
  const pn::device on{"/gpu:0"};
  auto x = pn::placeholder<float>({2, 3}, "x"), b = pn::placeholder<float>({3}, "b");
  const auto [db] = pn::gradients(pn::log1p(x * b) * 3.f, b);
  setenv("PINION_FAKE_NVRTC_REFUSES", "row_of_block", 1);
  pn::session sess;
  const pn::tensor<float> found = sess.run({{x, pn::tensor<float>::of({{1, 2, 3}, {4, 5, 6}})}, {b, {1, 1, 1}}}, db);
  for (std::size_t i = 0; i < 3; ++i) {
    const double first = 1. + static_cast<double>(i), second = 4. + static_cast<double>(i);
    CHECK(found.span()[i] == Approx(3 * (first / (1 + first) + second / (1 + second))));
  }
  CHECK_THAT(lines.all(), Catch::Contains("(MapGrad), since NVRTC refuses a kernel"));
}

TEST_CASE_METHOD(refusing, "a program whose code the driver does not load is interpreted, which is told once",
                 "[stand-in]") {
  fake_cuda::refuse(fake_cuda::code::that_is_loaded);
  const auto [found, told] = run_twice([](auto x) { return pn::erf(x) - 2.f; });
  CHECK(found.span()[0] == Approx(std::erf(1) - 2));
  CHECK(count(told, "pinion: ") == 1);
  CHECK_THAT(told, Catch::Contains("since the driver does not load a kernel: cudaLibraryLoadData returned "
                                   "cudaErrorUnsupportedPtxVersion"));
}
