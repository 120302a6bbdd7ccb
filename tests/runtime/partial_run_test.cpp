// Steps that are fed and fetched in several calls. The rules are TensorFlow's partial_run, whose own example is the
// first test.
#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <pinion/runtime/partial_run.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"
#include "support/own_session.hpp"

namespace {

namespace pn = pinion;
using Catch::Contains;
using pn::errc;

// r1 = a + b, r2 = r1 * c, and a counter of how often r1 was needed.
struct sums : own_graph {
  pn::expr<float> a = pn::placeholder<float>({}, "a"), b = pn::placeholder<float>({}, "b"),
                  c = pn::placeholder<float>({}, "c");
  pn::variable_handle<int> count = pn::variable(0, {.name = "count"});
  pn::expr<int> up = pn::assign_add(count, 1);
  pn::expr<float> r1, r2;

  sums() {
    const pn::control_dependencies first{up};
    r1 = pn::identity(a + b, "r1");
    r2 = pn::identity(r1 * c, "r2");
  }
};
struct summing : sums {
  pn::session sess;
  explicit summing(pn::session_options options = {}) : sess(with(std::move(options), g)) {
    sess.run(count.initializer());
  }
  pn::partial_run step() { return {sess, pn::feeds(a, b, c), pn::fetches(r1, r2)}; }
  static pn::session_options with(pn::session_options o, pn::graph& g) {
    o.graph = &g;
    return o;
  }
};

TEST_CASE("what one call fetches may decide what the next one feeds, and no node runs twice") {
  summing s;
  auto step = s.step();
  const float first = step.run({{s.a, 1.f}, {s.b, 2.f}}, s.r1);
  CHECK(first == 3);
  CHECK(float(step.run({{s.c, first * 17}}, s.r2)) == 153);
  CHECK(int(s.sess.run(s.count)) == 1);
}

TEST_CASE("feeds may come one by one, and several values go in one call") {
  summing s;
  auto step = s.step();
  step.run({{s.c, 5.f}});
  step.run({{s.b, 2.f}});
  const auto [sum, product] = step.run({{s.a, 1.f}}, s.r1, s.r2);
  CHECK(float(sum) == 3);
  CHECK(float(product) == 15);
}

TEST_CASE("a partial run gives what a step gives, again and again, whatever the sizes") {
  own_session here;
  const auto x = pn::placeholder<float>({pn::unknown}, "x"), y = pn::placeholder<float>({pn::unknown}, "y");
  const auto a = pn::sigmoid(pn::square(x) + 1.f);
  const auto b = pn::exp(-a) * y + pn::reduce_sum(a * y);
  for (const std::int64_t n : {3, 1000, 7, 1000, 3, 100'000, 7}) {
    pn::tensor<float> u({n}), v({n});
    for (std::int64_t i = 0; i < n; ++i) u(i) = float(i) / float(n), v(i) = 1 / float(i + 1);
    const auto [whole_a, whole_b] = here.sess.run({{x, u}, {y, v}}, a, b);
    pn::partial_run step(here.sess, pn::feeds(x, y), pn::fetches(a, b));
    const auto first = step.run({{x, u}}, a);
    const auto then = step.run({{y, v}}, b);
    CHECK(std::equal(first.span().begin(), first.span().end(), whole_a.span().begin()));
    CHECK(std::equal(then.span().begin(), then.span().end(), whole_b.span().begin()));
  }
}

TEST_CASE("two partial runs of one session keep apart, and other steps run between their calls") {
  summing s;
  auto one = s.step(), two = s.step();
  CHECK(float(one.run({{s.a, 1.f}, {s.b, 2.f}}, s.r1)) == 3);
  CHECK(float(two.run({{s.a, 10.f}, {s.b, 20.f}}, s.r1)) == 30);
  CHECK(float(s.sess.run({{s.a, 5.f}, {s.b, 5.f}, {s.c, 2.f}}, s.r2)) == 20);
  CHECK(float(two.run({{s.c, 2.f}}, s.r2)) == 60);
  CHECK(float(one.run({{s.c, 2.f}}, s.r2)) == 6);
  CHECK(int(s.sess.run(s.count)) == 3);
}

TEST_CASE("an operation runs as soon as it can, and its call waits for it") {
  summing s;
  const auto v = pn::variable(0.f, {.name = "v"});
  const auto put = pn::assign(v, s.a);
  const auto put_product = pn::operation(pn::assign_add(v, s.r2));
  s.sess.run(v.initializer());
  pn::partial_run step(s.sess, pn::feeds(s.a, s.b, s.c), pn::fetches(s.r1), pn::targets(put_product, put));
  step.run({{s.a, 4.f}}, pn::operation(put));
  CHECK(float(s.sess.run(v)) == 4);
  step.run({{s.b, 1.f}, {s.c, 2.f}}, put_product);
  CHECK(float(s.sess.run(v)) == 14);
  CHECK(float(step.run(s.r1)) == 5);
}

TEST_CASE("a partial run needs no feeds, and a fetch may be what was fed") {
  own_session here;
  const auto x = pn::placeholder<float>({}, "x");
  const pn::expr<float> y = pn::constant(2.f) * pn::constant(3.f), z = pn::constant(4.f) + 1.f;
  pn::partial_run without(here.sess, pn::feeds(), pn::fetches(y, z));
  CHECK(float(without.run(z)) == 5);
  CHECK(float(without.run(y)) == 6);
  pn::partial_run through(here.sess, pn::feeds(x), pn::fetches(x));
  CHECK(float(through.run({{x, 7.f}}, x)) == 7);
}

TEST_CASE("the value of an expression that has a producer may be fed in a call, and its producer does not run") {
  summing s;
  pn::partial_run step(s.sess, pn::feeds(s.c, s.r1), pn::fetches(s.r2));
  CHECK(float(step.run({{s.c, 2.f}, {s.r1, 21.f}}, s.r2)) == 42);
  CHECK(int(s.sess.run(s.count)) == 0);
  pn::partial_run both(s.sess, pn::feeds(s.a, s.b, s.r1), pn::fetches(), pn::targets(s.r1));
  both.run({{s.r1, 1.f}, {s.a, 1.f}, {s.b, 1.f}}, pn::operation(s.r1));  // as a target it runs all the same
}

// ---- what is refused, and changes nothing

TEST_CASE("a call names ends that the run was made with, each once, in an order that the graph allows") {
  summing s;
  const auto other = pn::placeholder<float>({}, "other");
  auto step = s.step();
  const auto refused = [&](const auto& call, const auto&... parts) {
    CHECK(refusal(call, errc::invalid_argument, parts..., std::string("partial_run_test.cpp")) == "");
  };
  refused([&] { step.run({{other, 1.f}}); }, "'other' is not among the feeds");
  refused([&] { step.run({{s.a, 1.f}}, s.c); }, "'c' is not among the fetches");
  refused([&] { step.run({{s.a, 1.f}}, s.up); }, "AssignAdd' is not among the fetches");
  refused([&] { step.run(pn::operation(s.up)); }, "AssignAdd' is not among the targets");
  refused([&] { step.run({{s.a, 1.f}, {s.a, 2.f}}); }, "'a' was fed already");
  refused([&] { step.run({{s.a, 1.f}, {s.b, 1.f}}, s.r1, s.r1); }, "'r1' was fetched already");
  refused([&] { step.run({{s.a, 1.f}}, s.r1); }, "'r1' needs 'b', which must be fed first");
  refused([&] { step.run(); }, "nothing to feed, fetch or run");
  CHECK(float(step.run({{s.a, 1.f}, {s.b, 2.f}}, s.r1)) == 3);
  refused([&] { step.run({{s.a, 1.f}}); }, "'a' was fed already");
  refused([&] { step.run(s.r1); }, "'r1' was fetched already");
  refused([&] { step.run(s.r2); }, "'r2' needs 'c', which must be fed first");
  CHECK(float(step.run({{s.c, 2.f}}, s.r2)) == 6);
  refused([&] { step.run({{s.c, 2.f}}); }, "'c' was fed already");
}

TEST_CASE("a call refuses a value that does not fit, and the next one takes another") {
  summing s;
  auto step = s.step();
  CHECK(refusal(
            [&] {
              step.run({{pn::any_expr(s.a), pn::tensor<int>(1).untyped()}});
            },
            errc::invalid_argument, "int32 was fed to 'a', which is float") == "");
  CHECK(refusal([&] { step.run({{s.a, pn::tensor<float>({2})}}); }, errc::invalid_argument, "shape [2]") == "");
  CHECK(float(step.run({{s.a, 1.f}, {s.b, 2.f}}, s.r1)) == 3);
}

TEST_CASE("a partial run is made of ends of its session's graph, each fed once") {
  summing s;
  const auto made = [&](const auto&... ends) { return failure([&] { pn::partial_run(s.sess, ends...); }); };
  CHECK_THAT(made(pn::feeds(s.a, s.a), pn::fetches(s.r1)), Contains("'a' was fed twice"));
  CHECK_THAT(made(pn::feeds(s.a), pn::fetches()), Contains("nothing to fetch or run"));
  own_graph elsewhere;
  const auto foreign = pn::constant(1.f, "foreign");
  CHECK_THAT(made(pn::feeds(s.a), pn::fetches(foreign)), Contains("invalid_argument") && Contains("'foreign'"));
}

TEST_CASE("a placeholder that the run was not made with fails it as it fails a step") {
  summing s;
  CHECK(caught([&] {
          pn::partial_run step(s.sess, pn::feeds(s.a), pn::fetches(s.r1));
          step.run({{s.a, 1.f}}, s.r1);
        }).code() == errc::invalid_argument);
}

TEST_CASE("a value on a device is for a step of one call") {
  own_graph own;
  pn::session sess{{.simulated = {pn::sim::gpu()}}};
  const auto x = pn::placeholder<float>({}, "x");
  const auto y = x + 1.f;
  pn::partial_run step(sess, pn::feeds(x), pn::fetches(y));
  const auto there = sess.to_device(pn::tensor<float>(1.f), "/gpu:0");
  CHECK(refusal([&] { step.run({{x, there}}, y); }, errc::invalid_argument, "'x' takes a value in host memory") == "");
  CHECK(float(step.run({{x, 1.f}}, y)) == 2);
}

// ---- devices and threads

TEST_CASE("values of calls go to devices and come from them") {
  const int helpers = GENERATE(1, 4);
  own_graph own;
  const auto x = pn::placeholder<float>({2}, "x"), y = pn::placeholder<float>({2}, "y");
  const auto on_gpu = pn::place<"/gpu:0">(pn::square(x) + 1.f);
  const auto on_other = pn::place<"/cpu:1">(on_gpu * y);
  const auto v = [&] {
    const pn::device there{"/gpu:0"};
    return pn::variable(pn::tensor<float>({2}), {.name = "v"});
  }();
  const auto kept = pn::operation(pn::assign(v, on_gpu));
  pn::session sess{{.graph = &own.g, .cpu_devices = 2, .inter_op_threads = helpers, .simulated = {pn::sim::gpu()}}};
  sess.run(v.initializer());
  pn::partial_run step(sess, pn::feeds(x, y), pn::fetches(on_gpu, on_other), pn::targets(kept));
  CHECK(to_string(step.run({{x, {1, 2}}}, on_gpu, kept)) == "[2, 5]");
  CHECK(to_string(sess.run(v)) == "[2, 5]");
  CHECK(to_string(step.run({{y, {10, 100}}}, on_other)) == "[20, 500]");
}

TEST_CASE("threads may make calls of one run at the same time") {
  own_session here;
  constexpr int n = 8;
  std::vector<pn::any_expr> feeds, fetches;
  std::vector<pn::expr<float>> xs, ys;
  for (int i = 0; i < n; ++i) {
    xs.push_back(pn::placeholder<float>({1000}, "x" + std::to_string(i)));
    ys.push_back(pn::reduce_sum(pn::exp(xs.back() * 0.f)) * float(i));
    feeds.push_back(xs.back()), fetches.push_back(ys.back());
  }
  for (int again = 0; again < 20; ++again) {
    pn::partial_run step(here.sess, feeds, fetches, {});
    std::vector<float> sums(n);
    std::vector<std::thread> all;
    for (int i = 0; i < n; ++i)
      all.emplace_back([&, i] {
        const auto k = static_cast<std::size_t>(i);
        sums[k] = step.run({{xs[k], pn::tensor<float>({1000})}}, ys[k]);
      });
    for (auto& t : all) t.join();
    for (int i = 0; i < n; ++i) CHECK(sums[static_cast<std::size_t>(i)] == 1000.f * float(i));
  }
}

// ---- how it ends

// A step whose fetch waits for an element of a queue.
struct waiting : own_graph {
  pn::expr<float> x = pn::placeholder<float>({}, "x");
  pn::fifo_queue<float> q{{.capacity = 4, .name = "q"}};
  pn::expr<float> taken = q.dequeue();
  pn::expr<float> y = x + taken;
  pn::expr<int> size = q.size();
  pn::operation put = q.enqueue(5.f);
};

TEST_CASE("a failure of a node is thrown by its call, and by every call behind it") {
  own_session here;
  const auto x = pn::placeholder<float>({}, "x"), y = pn::placeholder<float>({}, "y");
  const auto v = pn::variable(0.f, {.name = "never_initialized"});
  const pn::expr<float> bad = x + v, good = y * 2.f;
  pn::partial_run step(here.sess, pn::feeds(x, y), pn::fetches(bad, good));
  CHECK_THAT(failure([&] { step.run({{x, 1.f}}, bad); }), Contains("never_initialized"));
  CHECK_THAT(failure([&] { step.run({{y, 1.f}}, good); }), Contains("never_initialized"));
  here.sess.run(v.initializer());
  pn::partial_run again(here.sess, pn::feeds(x, y), pn::fetches(bad, good));
  CHECK(float(again.run({{x, 1.f}}, bad)) == 1);
}

TEST_CASE("a run that is given up takes nothing more from a queue, and the session goes on") {
  waiting w;
  pn::session sess{{.graph = &w.g}};
  {
    pn::partial_run step(sess, pn::feeds(w.x), pn::fetches(w.y));
    step.run({{w.x, 1.f}});
  }
  sess.run(w.put);
  CHECK(int(sess.run(w.size)) == 1);
  pn::partial_run next(sess, pn::feeds(w.x), pn::fetches(w.y));
  CHECK(float(next.run({{w.x, 1.f}}, w.y)) == 6);
}

TEST_CASE("a call that takes longer than the operation_timeout fails its run, and names the option") {
  waiting w;
  pn::session sess{{.graph = &w.g, .operation_timeout = std::chrono::milliseconds(50)}};
  pn::partial_run step(sess, pn::feeds(w.x), pn::fetches(w.y));
  CHECK(refusal([&] { step.run({{w.x, 1.f}}, w.y); }, errc::deadline_exceeded, "operation_timeout") == "");
  CHECK(caught([&] { step.run(w.y); }).code() == errc::deadline_exceeded);
  sess.run(w.put);
  CHECK(int(sess.run(w.size)) == 1);
}

TEST_CASE("cancel_steps() ends partial runs, also between two calls, and later ones run") {
  waiting w;
  pn::session sess{{.graph = &w.g}};
  pn::partial_run step(sess, pn::feeds(w.x), pn::fetches(w.y));
  sess.cancel_steps(pn::error(errc::aborted, "enough"));
  CHECK(failure([&] { step.run({{w.x, 1.f}}, w.y); }) == "aborted: enough");
  sess.run(w.put);
  pn::partial_run next(sess, pn::feeds(w.x), pn::fetches(w.y));
  CHECK(float(next.run({{w.x, 1.f}}, w.y)) == 6);
}

TEST_CASE("a session that is closed ends the call of another thread, and waits for no call to come") {
  waiting w;
  pn::session sess{{.graph = &w.g}};
  pn::partial_run idle(sess, pn::feeds(w.x), pn::fetches(w.y)), busy(sess, pn::feeds(w.x), pn::fetches(w.y));
  std::optional<pn::error> ended;
  std::thread waits([&] { ended = caught([&] { busy.run({{w.x, 1.f}}, w.y); }); });
  sess.close();
  waits.join();
  CHECK((ended->code() == errc::cancelled || ended->code() == errc::failed_precondition));  // it may have come late
  CHECK(caught([&] { idle.run({{w.x, 1.f}}, w.y); }).code() == errc::failed_precondition);
  CHECK(caught([&] { pn::partial_run(sess, pn::feeds(w.x), pn::fetches(w.y)); }).code() == errc::failed_precondition);
}

TEST_CASE("a partial run may outlive its session and its graph, and may be moved") {
  std::optional<pn::partial_run> left;
  {
    summing s;
    left.emplace(s.step());
    left->run({{s.a, 1.f}});
    pn::partial_run moved = std::move(*left);
    CHECK(failure([&] {
            left->run({{s.b, 1.f}});
          }) == "failed_precondition: a call is made of a partial run that was moved from");
    CHECK(float(moved.run({{s.b, 1.f}}, s.r1)) == 2);
    *left = std::move(moved);
  }
  own_graph other;
  const auto x = pn::placeholder<float>({}, "x");
  CHECK(refusal([&] { left->run({{x, 1.f}}); }, errc::failed_precondition, "a call of a partial run") == "");
}

}  // namespace
