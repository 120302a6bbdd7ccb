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

TEST_CASE_METHOD(world, "a replay copies its inputs by one launch, and its outputs and what is wrong by another",
                 "[stand-in]") {
  const pn::device on{"/gpu:0"};
  auto rows = pn::placeholder<int>({2}, "rows");
  auto x = pn::placeholder<float>({2}, "x"), y = pn::placeholder<float>({2}, "y");
  auto z = pn::exp(x) * pn::gather(pn::constant<float>({1, 2, 3}), rows);
  auto sum = pn::reduce_sum(z) + y;
  auto most = pn::reduce_max(z) * y;
  pn::session sess;
  const auto counted_run = [&] {
    const fake_cuda::counts before = fake_cuda::count();
    const auto [a, b] = sess.run({{rows, {0, 2}}, {x, {0, 0}}, {y, {1, 2}}}, sum, most);
    CHECK(pn::tensor<float>(a) == pn::tensor<float>::of({5, 6}));
    CHECK(pn::tensor<float>(b) == pn::tensor<float>::of({3, 6}));
    const fake_cuda::counts after = fake_cuda::count();
    return std::pair(after.launches - before.launches, after.copies - before.copies);
  };
  const auto launches = counted_run().first;
  counted_run();
  const auto [launches_of_replay, copies_of_replay] = counted_run();
  CHECK(fake_cuda::count().graphs == 1);
  CHECK(launches > 2);
  CHECK(launches_of_replay == 2);
  CHECK(copies_of_replay == 3 + 2 + 1);  // of feeds and fetches between host and GPU, and of what is wrong
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

TEST_CASE_METHOD(world, "recorded updates heed what earlier recordings of the step check, and go on in the next step") {
  const pn::device on{"/gpu:0"};
  auto w = pn::variable(pn::constant<float>({1, 2, 3}), {.name = "w"});
  auto rows = pn::placeholder<int>({2}, "rows");
  auto taken = pn::gather(pn::constant<float>({5, 6, 7}), rows) * 2.f;
  const pn::expr<float> there = [&] {
    const pn::device host{"/cpu:0"};
    return pn::expr<float>(pn::reduce_sum(taken));
  }();
  auto more = pn::assign_add(w, pn::exp(w * 0.f) * there);
  pn::session sess;
  sess.run(w.initializer());
  float expected = 1;
  for (int i = 0; i < 6; ++i) {
    CHECK(caught([&] {
            sess.run({{rows, {0, 3}}}, pn::operation(more));
          }).sentence() == "index 3 at position 1 is not in [0, 3)");
    CHECK(pn::tensor<float>(sess.run(w))(0) == expected);
    sess.run({{rows, {0, 1}}}, pn::operation(more));
    expected += 22;
    CHECK(pn::tensor<float>(sess.run(w))(0) == expected);
  }
  CHECK(fake_cuda::count().graphs == 2);
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(world, "an update heeds each of several recordings before it") {
  const pn::device on{"/gpu:0"};
  auto w = pn::variable(pn::constant<float>({1, 2, 3}), {.name = "w"});
  std::vector<pn::expr<int>> rows;
  std::vector<pn::expr<float>> sums;
  for (const char* name : {"first", "second", "third"}) {
    rows.push_back(pn::placeholder<int>({2}, name));
    pn::expr<float> taken = pn::gather(pn::constant<float>({5, 6, 7}), rows.back()) * 2.f;
    if (!sums.empty()) taken = taken + 0.f * sums.back();
    const pn::device host{"/cpu:0"};
    sums.push_back(pn::reduce_sum(taken));
  }
  auto more = pn::assign_add(w, pn::exp(w * 0.f) * sums.back());
  pn::session sess;
  sess.run(w.initializer());
  const pn::tensor<int> good = pn::tensor<int>::of({0, 1}), wrong = pn::tensor<int>::of({0, 4});
  const auto run = [&](std::size_t bad) {
    sess.run(
        {{rows[0], bad == 0 ? wrong : good}, {rows[1], bad == 1 ? wrong : good}, {rows[2], bad == 2 ? wrong : good}},
        pn::operation(more));
  };
  float expected = 1;
  for (std::size_t i = 0; i < 9; ++i) {
    CHECK(caught([&] { run(i % 3); }).sentence() == "index 4 at position 1 is not in [0, 3)");
    CHECK(pn::tensor<float>(sess.run(w))(0) == expected);
    run(3);
    expected += 22;
    CHECK(pn::tensor<float>(sess.run(w))(0) == expected);
  }
}

TEST_CASE_METHOD(world, "a variable that is assigned what follows from a wrong index keeps its value") {
  const pn::device on{"/gpu:0"};
  auto w = pn::variable(pn::constant<float>({1, 2}), {.name = "w"});
  auto rows = pn::placeholder<int>({2}, "rows");
  auto set = pn::assign(w, pn::gather(pn::constant<float>({5, 6, 7}), rows) * 2.f);
  pn::session sess;
  sess.run(w.initializer());
  pn::tensor<float> expected = sess.run(w);
  for (int i = 0; i < 4; ++i) {
    CHECK(caught([&] {
            sess.run({{rows, {0, 3}}}, pn::operation(set));
          }).sentence() == "index 3 at position 1 is not in [0, 3)");
    CHECK(pn::tensor<float>(sess.run(w)) == expected);
    sess.run({{rows, {i % 3, 1}}}, pn::operation(set));
    expected = pn::tensor<float>::of({static_cast<float>(10 + 2 * (i % 3)), 12});
    CHECK(pn::tensor<float>(sess.run(w)) == expected);
  }
}

// Random numbers of each kind behind other kernels.
pn::expr<float> draws(const std::string& where) {
  const pn::device on{where};
  auto unit = pn::random_uniform<float>({100}, {.seed = 3}) * 2.f + 1.f;
  auto whole = pn::cast<float>(pn::random_uniform<int>({100}, {.minval = 1, .maxval = 7, .seed = 4}));
  return unit + 10.f * whole;
}

TEST_CASE_METHOD(world, "recorded steps draw the numbers of the CPU, run by run, whichever runs are traced") {
  const auto there = draws("/gpu:0"), here = draws("/cpu:0");
  pn::session sess;
  for (int i = 0; i < 8; ++i) {
    pn::step_trace trace;
    const pn::tensor<float> got = i == 4 ? sess.run(trace, there) : sess.run(there);
    CHECK(got == pn::tensor<float>(sess.run(here)));
    CHECK(fake_cuda::count().graphs == (i > 0));
  }
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(world, "all recordings and steps that run a random node go on with one sequence") {
  auto length = pn::placeholder<float>({pn::unknown}, "length");
  const auto noise = [&](const char* where) {
    const pn::device on{where};
    return pn::expr<float>(pn::dropout(pn::exp(length * 0.f), {.rate = .5, .seed = 9}) + 1.f);
  };
  const auto there = noise("/gpu:0"), here = noise("/cpu:0");
  const pn::expr<float> also = [&] {
    const pn::device on{"/gpu:0"};
    return pn::expr<float>(pn::sqrt(there) * pn::sqrt(there));
  }();
  pn::session sess;
  for (int i = 0; i < 12; ++i) {
    const pn::tensor<float> zeros{{20 + i % 3}};
    const pn::tensor<float> got = i % 4 == 3 ? sess.run({{length, zeros}}, also) : sess.run({{length, zeros}}, there);
    const pn::tensor<float> expected = sess.run({{length, zeros}}, here);
    for (std::int64_t k = 0; k < got.shape()[0]; ++k) CHECK(got(k) == Approx(expected(k)));
  }
}

TEST_CASE("steps at the same time draw each number of a sequence once") {
  auto like = machine::with(1);
  like.jitter_us = 100;
  world w(like);
  const auto there = draws("/gpu:0"), here = draws("/cpu:0");
  pn::session sess;
  std::vector<std::vector<float>> first(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : first)
      threads.emplace_back([&] {
        for (int i = 0; i < 8; ++i) mine.push_back(pn::tensor<float>(sess.run(there))(7));
      });
  }
  std::multiset<float> drawn, expected;
  for (const auto& mine : first) drawn.insert(mine.begin(), mine.end());
  for (int i = 0; i < 32; ++i) expected.insert(pn::tensor<float>(sess.run(here))(7));
  CHECK(drawn == expected);
  CHECK(fake_cuda::count().graphs == 1);
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(world, "nodes that launch nothing are not recorded: feeds that are fetched, and reads") {
  const pn::device on{"/gpu:0"};
  auto w = pn::variable(pn::constant<float>({1, 2}), {.name = "w"});
  auto x = pn::placeholder<float>({2}, "x");
  pn::session sess;
  sess.run(w.initializer());
  for (int i = 0; i < 4; ++i) {
    CHECK(pn::tensor<float>(sess.run(w)) == pn::tensor<float>::of({1, 2}));
    const auto [read, fed] = sess.run({{x, {3, 4}}}, w, pn::identity(x));
    CHECK(pn::tensor<float>(fed) == pn::tensor<float>::of({3, 4}));
  }
  CHECK(fake_cuda::count().graphs == 0);
}

TEST_CASE_METHOD(world, "steps at the same time all update a variable") {
  const pn::device on{"/gpu:0"};
  auto w = pn::variable(pn::constant<float>({0, 0}), {.name = "w"});
  auto more = pn::assign_add(w, pn::exp(w * 0.f));
  pn::session sess;
  sess.run(w.initializer());
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 16; ++i) sess.run(pn::operation(more));
      });
  }
  CHECK(pn::tensor<float>(sess.run(w)) == pn::tensor<float>::of({64, 64}));
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(world, "recordings that come to nothing are tried again, and the plan says what is in the way") {
  const pn::device on{"/gpu:0"};
  auto w = pn::variable(pn::constant<float>({1, 2}), {.name = "w"});
  auto more = pn::assign_add(w, w * 0.f);
  pn::session sess;
  const auto note = [&] {
    const pn::plan plan = sess.plan(pn::operation(more));
    const auto& all = plan.notes();
    const auto found = std::find_if(all.begin(), all.end(), [](const auto& n) { return n.find("launched") != n.npos; });
    return found == all.end() ? std::string() : std::string(*found);
  };
  for (int i = 0; i < 20; ++i) {
    sess.run(w.initializer());
    sess.run(pn::operation(more));
  }
  CHECK_THAT(note(), Catch::Matchers::Contains("launched one by one in the last run, since variable 'w' has moved"));
  for (int i = 0; i < 64; ++i) sess.run(pn::operation(more));
  CHECK(fake_cuda::count().graphs == 1);
  CHECK(note() == "");
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

TEST_CASE_METHOD(world, "what a queue gives back waits for none of the nodes before it, recorded or not") {
  auto q = pn::fifo_queue<float>({.capacity = 1, .shapes = {{3}}});
  auto x = pn::placeholder<float>({3}, "x");
  auto given = q.dequeue();
  const auto back = [&] {
    const pn::device on{"/gpu:0"};
    return pn::expr<float>(pn::reduce_sum(pn::exp(given)) * 2.f);
  }();
  const auto sent = [&] {
    const pn::device on{"/gpu:0"};
    return pn::expr<float>(pn::softmax(pn::reshape(x, {1, 3})) * 3.f);
  }();
  auto put = q.enqueue(pn::reshape(sent, {3}));
  pn::session sess{{.operation_timeout = std::chrono::seconds(20)}};
  for (int i = 0; i < 5; ++i) {
    const float got = sess.run({{x, {0, 0, 0}}}, back, put);
    CHECK(got == Approx(6 * std::exp(1.f)));
  }
  CHECK(fake_cuda::count().graphs == 2);
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
