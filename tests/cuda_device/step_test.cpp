// Steps on a GPU: graphs whose kernels are compiled while they run.
#include <catch2/catch.hpp>

#include <cuda_runtime_api.h>

#include <pinion/op/source/cuda_kernels.hpp>

#include "cuda_device/gpus.hpp"
#include "support/own_ops.hpp"

namespace {

using namespace cuda_tests;

TEST_CASE_METHOD(world, "an expression runs as one kernel on the GPU of its guard") {
  const pn::device on{"/gpu:0"};
  auto x = pn::placeholder<float>({pn::unknown}, "x");
  auto y = pn::tanh(x * 2.f + 1.f) - x;
  pn::session sess;
  const pn::tensor<float> got = sess.run({{x, {0.f, 1.f, -1.f}}}, y);
  CHECK(got(0) == Approx(std::tanh(1.)));
  CHECK(got(1) == Approx(std::tanh(3.) - 1));
  CHECK(got(2) == Approx(std::tanh(-1.) + 1));
  CHECK(fake_cuda::count().launches == 1);
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(world, "a gradient with sums has the same bits in every run") {
  const pn::device on{"/gpu:0"};
  auto x = pn::placeholder<float>({300, 7}, "x");
  auto b = pn::placeholder<float>({7}, "b");
  auto [db] = pn::gradients(pn::tanh(x * b), b);
  pn::session sess;
  const pn::tensor<float> ones{{300, 7}};
  pn::tensor<float> values = ones;
  for (std::size_t i = 0; i < values.span().size(); ++i) values.span()[i] = static_cast<float>(i % 13) / 7;
  const pn::tensor<float> row = pn::tensor<float>::of({.1f, .2f, .3f, .4f, .5f, .6f, .7f});
  const pn::tensor<float> first = sess.run({{x, values}, {b, row}}, db);
  for (int i = 0; i < 3; ++i) CHECK(pn::tensor<float>(sess.run({{x, values}, {b, row}}, db)) == first);
}

TEST_CASE_METHOD(world, "a variable lives on the GPU, and updates are in place") {
  const pn::device on{"/gpu:0"};
  auto w = pn::variable(pn::constant<float>({1, 2, 3}), {.name = "w"});
  auto more = pn::assign_add(w, pn::constant<float>({10, 20, 30}));
  pn::session sess;
  sess.run(w.initializer());
  for (int i = 0; i < 3; ++i) sess.run(pn::operation(more));
  CHECK(pn::tensor<float>(sess.run(w)) == pn::tensor<float>::of({31, 62, 93}));
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(world, "an own op without a CUDA kernel is refused where it is placed") {
  const pn::device on{"/gpu:0"};
  pn::session sess;
  const auto y = pn::call<own::scaled>(pn::constant<float>({1, 2}));
  CHECK(refusal([&] { sess.run(y); }, pn::errc::invalid_argument, "OwnScaled") == "");
}

TEST_CASE_METHOD(world, "a fault of the card ends its steps, now and later, and the CPU goes on", "[stand-in]") {
  pn::session sess;
  auto x = pn::placeholder<float>({2}, "x");
  const auto there = [&] {
    const pn::device on{"/gpu:0"};
    return x * 2.f + 1.f;
  }();
  const auto here = [&] {
    const pn::device on{"/cpu:0"};
    return x * 3.f;
  }();
  sess.run({{x, {1, 2}}}, there);
  fake_cuda::fault_next_launch(0, cudaErrorIllegalAddress);
  for (int i = 0; i < 2; ++i)
    CHECK(refusal(
              [&] {
                sess.run({{x, {1, 2}}}, there);
              },
              pn::errc::unavailable, gpu_0, "is lost to this program", "cudaErrorIllegalAddress") == "");
  CHECK(pn::tensor<float>(sess.run({{x, {1, 2}}}, here)) == pn::tensor<float>::of({3, 6}));
}

TEST_CASE("every fault after which CUDA refuses all work loses the card", "[stand-in]") {
  const int contained = 226, tensor_memory_leak = 721;  // not all headers have names for them
  for (const int code : {int{cudaErrorECCUncorrectable}, int{cudaErrorLaunchFailure}, int{cudaErrorExternalDevice},
                         contained, tensor_memory_leak}) {
    const world w;
    INFO(code);
    const pn::device on{"/gpu:0"};
    auto x = pn::placeholder<float>({2}, "x");
    const auto y = x * 2.f;
    pn::session sess;
    fake_cuda::fault_next_launch(0, static_cast<cudaError_t>(code));
    for (int i = 0; i < 2; ++i)
      CHECK(refusal(
                [&] {
                  sess.run({{x, {1, 2}}}, y);
                },
                pn::errc::unavailable, gpu_0, "is lost to this program") == "");
  }
}

// Its second launch comes when the first one has lost the GPU.
struct losing : own::scaled {
  static constexpr std::string_view name = "OwnLosing";
  static void cuda(pn::kernel_context& c, pn::devices::cuda_stream on) {
    fake_cuda::fault_next_launch(0, cudaErrorIllegalAddress);
    float* const y = c.allocate(0, pn::dtype::float32, c.input(0).shape()).data<float>();
    for (int i = 0; i < 2; ++i) {
      pn::cuda::fill(on, y, 2, 0.f);
      cudaStreamSynchronize(on);
    }
  }
};

TEST_CASE_METHOD(world, "a launch that is refused since the card is lost tells of the loss", "[stand-in]") {
  pn::register_op<losing>();
  const pn::device on{"/gpu:0"};
  pn::session sess;
  const auto y = pn::call<losing>(pn::constant<float>({1, 2}));
  CHECK(refusal([&] { sess.run(y); }, pn::errc::unavailable, gpu_0, "is lost to this program", "OwnLosing") == "");
}

TEST_CASE("a step without memory for a value fails alone, and names the node", "[stand-in]") {
  world w{machine::with_memory(1 << 20)};
  const pn::device on{"/gpu:0"};
  auto x = pn::placeholder<float>({pn::unknown}, "x");
  auto y = pn::exp(x) + pn::reshape(x, {-1, 1});
  pn::session sess;
  CHECK(refusal(
            [&] {
              sess.run({{x, pn::tensor<float>{{1000}}}}, y);
            },
            pn::errc::resource_exhausted, "no memory for 4000000 bytes", "node") == "");
  CHECK_NOTHROW(sess.run({{x, pn::tensor<float>{{10}}}}, y));
}

TEST_CASE("a step without memory names who holds the most: variables, constants and values of nodes", "[stand-in]") {
  world w{machine::with_memory(2 << 20)};
  const pn::device on{"/gpu:0"};
  auto table = pn::variable(pn::zeros<float>({200000}), {.name = "table"});
  auto x = pn::placeholder<float>({pn::unknown}, "x");
  auto twice = pn::matmul(pn::reshape(x, {-1, 1}), pn::constant<float>({{1, 2}}), {.name = "twice"});
  auto wide = pn::matmul(twice, pn::zeros<float>({2, 100}), {.name = "wide"});
  auto sum = pn::reduce_sum(wide) + pn::reduce_sum(table);
  pn::session sess;
  sess.run(table.initializer());
  for (int i = 0; i < 4; ++i)  // in the first runs as in recorded ones
    CHECK(refusal(
              [&] {
                sess.run({{x, pn::tensor<float>{{10000}}}}, sum);
              },
              pn::errc::resource_exhausted, "no memory for 4000000 bytes", "; the largest holders are ",
              "'table' with 819200 bytes", "'twice' with ", "node 'wide'") == "");
  CHECK_NOTHROW(sess.run({{x, pn::tensor<float>{{10}}}}, wide));
}

}  // namespace
