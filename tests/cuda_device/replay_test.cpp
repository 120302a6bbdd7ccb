// Steps of a GPU that are recorded at their second run and enqueued as a whole from then on.
#include <catch2/catch.hpp>

#include <set>
#include <thread>

#include "cuda_device/gpus.hpp"

namespace {

using namespace cuda_tests;

TEST_CASE_METHOD(world, "replays compute with the values of their own run") {
  const pn::device on{"/gpu:0"};
  auto x = pn::placeholder<float>({pn::unknown}, "x");
  auto y = pn::reduce_sum(pn::exp(x) * 2.f);
  auto z = pn::tanh(x) + y;
  pn::session sess;
  for (int i = 0; i < 6; ++i) {
    const float v = static_cast<float>(i) / 4;
    const pn::tensor<float> got = sess.run({{x, {v, v}}}, z);
    CHECK(got(1) == Approx(std::tanh(v) + 4 * std::exp(v)));
    CHECK(fake_cuda::count().graphs == (i > 0));
  }
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(world, "inputs of other shapes have recordings of their own") {
  const pn::device on{"/gpu:0"};
  auto x = pn::placeholder<float>({pn::unknown}, "x");
  auto y = pn::reduce_sum(x * x) + 1.f;
  pn::session sess;
  for (int i = 0; i < 12; ++i) {
    pn::tensor<float> value({1 + i % 3});
    std::fill(value.span().begin(), value.span().end(), 2.f);
    CHECK(float(sess.run({{x, value}}, y)) == static_cast<float>(4 * (1 + i % 3) + 1));
  }
  CHECK(fake_cuda::count().graphs == 3);
}

TEST_CASE_METHOD(world, "a variable is updated in place by replays, and reads between them see its value") {
  const pn::device on{"/gpu:0"};
  auto w = pn::variable(pn::constant<float>({1, 2, 3}), {.name = "w"});
  auto x = pn::placeholder<float>({3}, "x");
  auto more = pn::assign_add(w, x * 2.f);
  auto loss = pn::reduce_sum(w * x);
  pn::session sess;
  sess.run(w.initializer());
  float expected = 1;
  for (int i = 0; i < 8; ++i) {
    sess.run({{x, {1, 0, 0}}}, pn::operation(more));
    expected += 2;
    CHECK(float(sess.run({{x, {1, 0, 0}}}, loss)) == expected);
    if (i == 5) CHECK(pn::tensor<float>(sess.run(w)) == pn::tensor<float>::of({expected, 2, 3}));
  }
  CHECK(fake_cuda::count().graphs == 2);
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(world, "a variable that got other memory since is found where it is now") {
  const pn::device on{"/gpu:0"};
  auto w = pn::variable(pn::constant<float>({1, 2}), {.name = "w"});
  auto doubled = pn::assign_add(w, w * 1.f);
  pn::session sess;
  sess.run(w.initializer());
  for (int i = 0; i < 4; ++i) sess.run(pn::operation(doubled));
  CHECK(pn::tensor<float>(sess.run(w)) == pn::tensor<float>::of({16, 32}));
  sess.run(w.initializer());
  for (int i = 0; i < 3; ++i) sess.run(pn::operation(doubled));
  CHECK(pn::tensor<float>(sess.run(w)) == pn::tensor<float>::of({8, 16}));
}

TEST_CASE_METHOD(world, "a variable that lies elsewhere is recorded anew") {
  const pn::device on{"/gpu:0"};
  auto w = pn::variable(pn::constant<float>({1, 2}), {.name = "w"});
  auto more = pn::assign_add(w, w * 1.f);
  pn::session sess;
  for (int round = 0; round < 3; ++round) {
    sess.run(w.initializer());
    for (int i = 0; i < 4; ++i) sess.run(pn::operation(more));
    CHECK(pn::tensor<float>(sess.run(w)) == pn::tensor<float>::of({16, 32}));
  }
  CHECK(fake_cuda::count().graphs <= 2);  // those of former places are gone
  CHECK(fake_cuda::take_misuses().empty());
}

// An update of a variable whose old value is read behind it.
struct late_read {
  pn::expr<float> x = pn::placeholder<float>({50000}, "x");
  decltype(pn::variable(pn::tensor<float>{{50000}})) w = pn::variable(pn::tensor<float>{{50000}}, {.name = "w"});
  pn::expr<float> old = w.read(), sum;

  late_read() {
    const pn::control_dependencies first{pn::operation(old)};
    const pn::operation more = pn::assign_add(w, pn::exp(x));
    const pn::control_dependencies then{more};
    sum = pn::reduce_max(pn::sqrt(old * old) + 1.f);
  }
};

TEST_CASE_METHOD(world, "an update of a variable that somebody else holds is not recorded") {
  const pn::device on{"/gpu:0"};
  late_read step;
  pn::session sess;
  sess.run(step.w.initializer());
  const pn::tensor<float> zeros{{50000}};
  for (int i = 0; i < 12; ++i) CHECK(float(sess.run({{step.x, zeros}}, step.sum)) == static_cast<float>(i + 1));
  CHECK(fake_cuda::count().graphs == 0);
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE("a step whose recording does not fit into the memory runs as before") {
  int fits = 0;
  for (int blocks = 2; blocks < 20; ++blocks) {
    world w{machine::with_memory(static_cast<std::size_t>(blocks) * (256 << 10))};
    const pn::device on{"/gpu:0"};
    late_read step;
    pn::session sess;
    const pn::tensor<float> zeros{{50000}};
    try {
      sess.run(step.w.initializer());
      sess.run({{step.x, zeros}}, step.sum);
    } catch (const pn::error& e) {
      CHECK(e.code() == pn::errc::resource_exhausted);
      continue;
    }
    ++fits;
    INFO(blocks << " blocks");
    for (int i = 1; i < 4; ++i) CHECK(float(sess.run({{step.x, zeros}}, step.sum)) == static_cast<float>(i + 1));
  }
  CHECK(fits > 4);
}

TEST_CASE_METHOD(world,
                 "a replay that meets a wrong index fails with the sentence of its kernel, and the next is good") {
  const pn::device on{"/gpu:0"};
  auto rows = pn::placeholder<int>({3}, "rows");
  auto y = pn::reduce_sum(pn::gather(pn::constant<float>({1, 2, 3}), rows) * 2.f);
  pn::session sess;
  for (int i = 0; i < 6; ++i) {
    CHECK(float(sess.run({{rows, {0, 1, 2}}}, y)) == 12);
    if (i < 1) continue;
    CHECK(caught([&] { sess.run({{rows, {0, 5, 9}}}, y); }).sentence() == "index 5 at position 1 is not in [0, 3)");
  }
  CHECK(fake_cuda::count().graphs == 1);
}

TEST_CASE_METHOD(world, "a traced run of a recorded step tells of each of its nodes") {
  const pn::device on{"/gpu:0"};
  auto x = pn::placeholder<float>({3}, "x");
  auto y = pn::reduce_sum(pn::exp(x), {.name = "sum"});
  auto z = pn::softmax(pn::reshape(y * x, {1, 3}), "soft");
  pn::session sess;
  std::set<std::string> apart, recorded;
  for (int i = 0; i < 4; ++i) {
    pn::step_trace trace;
    if (i == 0 || i == 3)
      sess.run(trace, {{x, {1, 2, 3}}}, z);
    else
      sess.run({{x, {1, 2, 3}}}, z);
    for (const auto& e : trace.events)
      if (e.kind == pn::trace_event::compute && e.device == gpu_0) (i == 0 ? apart : recorded).insert(e.node);
  }
  CHECK(apart.contains("sum"));
  CHECK(apart.contains("soft"));
  CHECK(recorded == apart);
}

TEST_CASE_METHOD(world, "random numbers go on from run to run") {
  pn::expr<float> here, there;
  {
    const pn::device on{"/gpu:0"};
    there = pn::random_uniform<float>({100}, {.seed = 3}) * 2.f + 1.f;
  }
  {
    const pn::device on{"/cpu:0"};
    here = pn::random_uniform<float>({100}, {.seed = 3}) * 2.f + 1.f;
  }
  pn::session sess;
  for (int i = 0; i < 5; ++i) CHECK(pn::tensor<float>(sess.run(there)) == pn::tensor<float>(sess.run(here)));
}

TEST_CASE("threads that run one step at the same time each get their own result") {
  auto like = machine::with(1);
  like.jitter_us = 100;
  world w(like);
  const pn::device on{"/gpu:0"};
  auto x = pn::placeholder<float>({2000}, "x");
  auto y = pn::reduce_sum(pn::sqrt(x * x) + 1.f);
  pn::session sess;
  std::vector<float> wrong(4, 0);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const float v = static_cast<float>(t + 1);
        pn::tensor<float> value({2000});
        std::fill(value.span().begin(), value.span().end(), v);
        for (int i = 0; i < 8; ++i) {
          const float got = sess.run({{x, value}}, y);
          if (got != 2000 * (v + 1)) wrong[t] = got;
        }
      });
  }
  CHECK(wrong == std::vector<float>(4, 0));
  CHECK(fake_cuda::take_misuses().empty());
}

}  // namespace
