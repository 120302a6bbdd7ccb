// Several GPUs in one step, and GPUs behind a server.
#include <catch2/catch.hpp>

#include <thread>

#include "cuda_device/gpus.hpp"

namespace {

using namespace cuda_tests;

// x 2 + 1 on one GPU, squared on the next, and so on; fetched from the last.
float through(int devices) {
  pn::graph g;
  const auto use = g.as_default();
  auto x = pn::placeholder<float>({40000}, "x");
  pn::expr<float> y = x;
  for (int i = 0; i < devices; ++i) {
    const pn::device on{"/gpu:" + std::to_string(i)};
    y = pn::expr<float>(y * 2.f + 1.f);
  }
  pn::session sess;
  pn::tensor<float> ones{{40000}};
  std::fill(ones.span().begin(), ones.span().end(), 1.f);
  float last = 0;
  for (int i = 0; i < 5; ++i) {
    const pn::tensor<float> got = sess.run({{x, ones}}, y);
    last = got(39999);
  }
  return last;
}

fake_cuda::settings three(bool peers) {
  auto s = machine::with(3);
  s.has_peer_access = peers;
  s.jitter_us = 200;
  return s;
}

TEST_CASE("a value goes from GPU to GPU of one step, over the host only where they have no access to each other",
          "[stand-in]") {
  for (const bool peers : {true, false}) {
    const machine m{three(peers)};
    CHECK(through(3) == 15);
    CHECK((fake_cuda::count().staged_copies == 0) == peers);
    CHECK(fake_cuda::take_misuses().empty());
  }
}

TEST_CASE("values leave GPUs and come back to them within one step") {
  for (const int gpus : {3, 1}) {
    auto like = three(true);
    like.devices = gpus;
    world w(like);
    auto x = pn::placeholder<float>({2}, "x");
    pn::expr<float> y = x;
    for (const char* where : {"/gpu:0", "/cpu:0", "/gpu:0", "/gpu:1", "/gpu:0", "/gpu:1", "/cpu:0", "/gpu:1"}) {
      const pn::device on{where};
      y = pn::expr<float>(pn::reduce_max(y * 2.f) + x);
    }
    const int parts = pn::cuda::list_cards().cards.size() > 1 ? 1 : 2;  // of each GPU: one alone counts as two devices
    pn::session sess{{.operation_timeout = std::chrono::seconds(60), .gpu = {.virtual_devices = parts}}};
    for (int i = 0; i < 3; ++i)
      CHECK(pn::tensor<float>(sess.run({{x, {1, 1}}}, y)) == pn::tensor<float>::of({511, 511}));
    CHECK(fake_cuda::take_misuses().empty());
  }
}

TEST_CASE("two devices of one GPU exchange values, each within its part of the memory") {
  const machine m{machine::with(1)};
  pn::graph g;
  const auto use = g.as_default();
  auto x = pn::placeholder<float>({1000}, "x");
  const auto half = [&](const char* where) {
    const pn::device on{where};
    return pn::expr<float>(x * 2.f);
  };
  const auto both = [&](const pn::expr<float>& a, const pn::expr<float>& b) {
    const pn::device on{"/gpu:1"};
    return pn::expr<float>(a + b);
  };
  pn::session sess{{.gpu = {.virtual_devices = 2}}};
  const pn::tensor<float> got = sess.run({{x, pn::tensor<float>{{1000}}}}, both(half("/gpu:0"), half("/gpu:1")));
  CHECK(got(999) == 0);
  CHECK(fake_cuda::take_misuses().empty());
}

// A thread that has entered no GPU, and lets go of something of one, would else take memory of the first GPU.
TEST_CASE("a program that uses the second GPU makes no context on the first, whichever thread ends what",
          "[stand-in]") {
  const machine m{machine::with(2)};
  std::thread([] {
    pn::graph g;
    const auto use = g.as_default();
    auto x = pn::placeholder<float>({40000}, "x");
    const pn::device on{"/gpu:0"};
    auto v = pn::variable(pn::zeros<float>({40000}), {.name = "v"});
    const auto y = pn::matmul(pn::reshape(x, {200, 200}), pn::reshape(v, {200, 200}));
    const auto train = pn::assign_add(v, x);
    const auto z = pn::exp(x) + pn::tanh(v);
    auto sess = std::make_unique<pn::session>(pn::session_options{.gpu = {.visible_devices = "1"}});
    sess->run(v.initializer());
    pn::step_trace trace;
    for (int i = 0; i < 4; ++i) sess->run({{x, pn::tensor<float>{{40000}}}}, y, z, train);
    sess->run(trace, {{x, pn::tensor<float>{{40000}}}}, y);
    std::thread([&] { sess.reset(); }).join();
  }).join();
  std::thread([] { pn::cuda::pinned_memory::of_gpus().trim(); }).join();
  CHECK(fake_cuda::count().contexts == 1);
  CHECK(fake_cuda::take_misuses().empty());
}

}  // namespace
