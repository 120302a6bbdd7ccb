// Many steps at once, on many devices: nothing is lost, nothing changes under a reader, every wait ends.
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

#include <support/caught.hpp>
#include <support/own_graph.hpp>
#include <support/tensor_text.hpp>
#include <support/waiting_step.hpp>

namespace {

using namespace pinion;

template <class F>
void in_threads(int n, F body) {
  std::vector<std::thread> all;
  for (int t = 0; t < n; ++t) all.emplace_back([=] { body(t); });
  for (auto& t : all) t.join();
}

tensor<float> counted(const shape& extent) {
  tensor<float> t(extent);
  float x = 0;
  for (float& e : t.span()) e = static_cast<float>(static_cast<int>(x += 37) % 19) * .125f - 1;
  return t;
}

// A chain of products long enough to be stopped on its way.
expr<float> long_chain(int links, std::int64_t n) {
  auto x = constant(tensor<float>({n, n}));
  expr<float> y = x;
  for (int i = 0; i < links; ++i) y = matmul(y, x);
  return y;
}

// ---- steps that are cancelled

TEST_CASE("steps that are cancelled fail with what they were cancelled with, and the session goes on") {
  own_graph f;
  waiting_step step;
  session sess;
  const auto e = step.cancelled(sess, sess, error(errc::cancelled, "that is enough"));
  CHECK(e.code() == errc::cancelled);
  CHECK_THAT(e.what(), Catch::Contains("that is enough"));
  sess.run(step.put);
  CHECK(int(sess.run(step.size)) == 1);
}

// ---- concurrent steps

TEST_CASE("four threads count exactly") {
  for (const char* where : {"/cpu:0", "/gpu:0"}) {
    own_graph f;
    const device on{where};
    auto v = variable(0.f, {.name = "v"});
    auto up = assign_add(v, 1.f);
    session sess{{.simulated = {sim::gpu()}}};
    sess.run(v.initializer());
    in_threads(4, [&](int) {
      for (int i = 0; i < 100; ++i) sess.run(operation(up));
    });
    CHECK(float(sess.run(v)) == 400);
  }
}

TEST_CASE("a reader's tensor is whole and never changes, whatever is written meanwhile") {
  for (const char* where : {"/cpu:0", "/gpu:0"}) {
    own_graph f;
    const device on{where};
    auto v = variable(tensor<float>({500}), {.name = "v"});
    auto up = assign_add(v, ones<float>({500}));
    session sess{{.simulated = {sim::gpu()}}};
    sess.run(v.initializer());
    std::atomic<int> torn{0};
    in_threads(4, [&](int t) {
      for (int i = 0; i < 50; ++i) {
        if (t < 2) {
          sess.run(operation(up));
          continue;
        }
        const tensor<float> seen = sess.run(v);
        const float first = seen(0);
        for (int again = 0; again < 3; ++again)
          if (!std::all_of(seen.span().begin(), seen.span().end(), [&](float x) { return x == first; })) ++torn;
      }
    });
    CHECK(torn == 0);
    CHECK(sess.run(v)(499) == 100);
  }
}

TEST_CASE("steps of several shapes and devices run beside each other") {
  own_graph f;
  auto x = placeholder<float>({unknown, 4}, "x");
  auto W = constant(counted({4, 4}));
  expr<float> y;
  {
    const device on{"/gpu:0"};
    y = matmul(x, W);
  }
  {
    const device on{"/cpu:1"};
    y = matmul(y, W);
  }
  session sess{{.cpu_devices = 2, .inter_op_threads = 3, .simulated = {sim::gpu()}}};
  std::vector<tensor<float>> wanted;
  for (std::int64_t n = 1; n <= 4; ++n) wanted.push_back(sess.run({{x, counted({n, 4})}}, y));
  std::atomic<int> wrong{0};
  in_threads(4, [&](int t) {
    for (int i = 0; i < 25; ++i)
      if (!(sess.run({{x, counted({t + 1, 4})}}, y) == wanted[static_cast<std::size_t>(t)])) ++wrong;
  });
  CHECK(wrong == 0);
}

TEST_CASE("threads that prepare the same new step share it") {
  own_graph f;
  auto v = variable(counted({3, 3}), {.name = "v"});
  auto y = matmul(v, v);
  session sess;
  sess.run(v.initializer());
  std::vector<tensor<float>> seen(4);
  in_threads(4, [&](int t) { seen[static_cast<std::size_t>(t)] = sess.run(y); });
  CHECK(seen[0] == seen[3]);
  CHECK(seen[1] == seen[2]);
}

TEST_CASE("a failing step does not disturb those beside it") {
  own_graph f;
  auto x = placeholder<float>({unknown, 2}, "x");
  auto y = matmul(x, constant(counted({2, 2})));
  auto bad = place<"/cpu:1">(identity(placeholder<float>({2, 2}, "bad")));
  auto worse = matmul(y, bad, {.name = "worse"});
  session sess{{.cpu_devices = 2}};
  std::atomic<int> wrong{0};
  in_threads(4, [&](int t) {
    for (int round = 0; round < 50; ++round) {
      const auto e = caught([&] {
        t < 2 ? sess.run({{x, counted({1, 2})}}, worse) : sess.run({{x, counted({1, 2})}}, y);
      });
      if ((e.code() == errc::invalid_argument) != (t < 2)) ++wrong;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("a step that fails on a stream does not disturb those beside it") {
  own_graph f;
  auto i = placeholder<int>({1}, "i");
  const device on{"/gpu:0"};
  auto picked = gather(constant<float>({1, 2, 3}, "rows"), i, {.name = "picked"});
  session sess{{.allow_soft_placement = true, .simulated = {sim::gpu()}}};
  std::atomic<int> wrong{0};
  in_threads(4, [&](int t) {
    for (int round = 0; round < 50; ++round) {
      const auto e = caught([&] {
        if (float(sess.run({{i, tensor<int>::of({t < 2 ? 7 : t - 1})}}, picked)) != static_cast<float>(t)) ++wrong;
      });
      if ((e.code() == errc::invalid_argument) != (t < 2)) ++wrong;
    }
  });
  CHECK(wrong == 0);
}

// ---- the same everywhere

// A diamond of products whose nodes go round the given devices.
tensor<float> computed(std::vector<std::string> places, const session_options& options) {
  own_graph f;
  std::size_t next = 0;
  const device on{[&](const node_view&) { return places[next++ % places.size()]; }};
  auto x = placeholder<float>({8, 8}, "x");
  auto W = variable(truncated_normal<float>({8, 8}, {.seed = 3}), {.name = "W"});
  expr<float> left = matmul(x, W), right = matmul(W, x);
  for (int i = 0; i < 4; ++i) {
    auto both = matmul(left, right);
    right = softmax(both);
    left = matmul(matmul(left, right, {.transpose_b = true}), W);
  }
  auto y = matmul(left, right);
  session sess{options};
  sess.run(W.initializer());
  return sess.run({{x, counted({8, 8})}}, y);
}

TEST_CASE("two CPUs and a simulated GPU give what one CPU gives, bit for bit") {
  const auto one = computed({"/cpu:0"}, {.inter_op_threads = 1});
  CHECK(std::isfinite(one(0, 0)));
  CHECK(computed({"/cpu:0", "/cpu:1", "/gpu:0"},
                 {.cpu_devices = 2, .inter_op_threads = 3, .simulated = {sim::gpu()}}) == one);
  CHECK(computed({"/gpu:0", "/gpu:1"}, {.simulated = {sim::gpu(), sim::gpu()}}) == one);
}

TEST_CASE("one thread and four give the same") {
  const auto one = computed({"/cpu:0"}, {.inter_op_threads = 1, .intra_op_threads = 1});
  CHECK(computed({"/cpu:0"}, {.inter_op_threads = 4, .intra_op_threads = 4}) == one);
  CHECK(computed({"/cpu:0", "/cpu:1"}, {.cpu_devices = 2, .inter_op_threads = 4, .intra_op_threads = 1}) == one);
}

TEST_CASE("a value may go to and fro between devices many times") {
  own_graph f;
  expr<float> y = placeholder<float>({}, "x");
  const auto x = y;
  for (int i = 0; i < 500; ++i) {
    const device on{i % 2 ? "/cpu:0" : "/cpu:1"};
    y = identity(y);
  }
  session sess{{.cpu_devices = 2}};
  CHECK(float(sess.run({{x, 3.f}}, y)) == 3);
}

TEST_CASE("the way to and fro may be as long as the graph") {
  own_graph f;
  auto x = placeholder<float>({}, "x");
  expr<float> y = place<"/gpu:0">(identity(x));  // so that both CPUs wait when its value comes
  for (int i = 0; i < 20000; ++i) {
    const device on{i % 2 ? "/cpu:0" : "/cpu:1"};
    y = identity(y);
  }
  session sess{{.cpu_devices = 2, .simulated = {sim::gpu()}}};
  CHECK(float(sess.run({{x, 3.f}}, y)) == 3);
}

// ---- every wait ends

TEST_CASE("a step that takes too long is stopped, on one thread or several, and the session goes on") {
  for (int threads : {1, 2}) {
    own_graph f;
    auto y = long_chain(2000, 512);
    auto c = constant(1.f);
    session sess{
        {.inter_op_threads = threads, .intra_op_threads = 1, .operation_timeout = std::chrono::milliseconds(250)}};
    CHECK(refusal([&] { sess.run(operation(y)); }, errc::deadline_exceeded, "operation_timeout: it was in 'MatMul") ==
          "");
    CHECK(float(sess.run(c)) == 1);
  }
}

TEST_CASE("closing cancels the steps that run in other threads, and refuses what comes") {
  own_graph f;
  auto y = long_chain(200, 256);
  session sess{{.intra_op_threads = 1}};
  std::atomic<int> ended{0}, cancelled{0}, other{0};
  std::vector<std::thread> runners;
  for (int t = 0; t < 3; ++t)
    runners.emplace_back([&] {
      for (;;) {
        const auto e = caught([&] { sess.run(operation(y)); });
        ++ended;
        if (e.code() == errc::internal) continue;
        if (e.code() == errc::cancelled)
          ++cancelled;
        else if (e.code() != errc::failed_precondition)
          ++other;
        return;
      }
    });
  while (ended == 0) std::this_thread::yield();
  sess.close();
  for (auto& t : runners) t.join();
  CHECK(cancelled > 0);
  CHECK(other == 0);
}

}  // namespace
