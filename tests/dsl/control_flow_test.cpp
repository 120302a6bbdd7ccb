// cond and while_loop: what they compute, what is differentiated, what is refused.
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"
#include "support/tensor_text.hpp"

namespace {

namespace pn = pinion;

template <class T>
std::string text(const pn::tensor<T>& t) {
  return pn::to_string(t);
}

}  // namespace

TEST_CASE("cond computes the branch that its predicate chooses, and only that") {
  own_graph f;
  auto x = pn::placeholder<float>({}, "x");
  auto ran = pn::variable(0, {.name = "ran"});
  auto y = pn::cond(
      x > 0.0f,
      [&] {
        auto count = pn::assign_add(ran, 1);
        pn::control_dependencies after{count};
        return pn::sqrt(x);
      },
      [&] { return -x; });
  CHECK(y.op() == "If");
  CHECK(y.name() == "cond");
  pn::session sess;
  sess.run(ran.initializer());
  CHECK(float(sess.run({{x, 9.0f}}, y)) == 3);
  CHECK(float(sess.run({{x, -4.0f}}, y)) == 4);
  CHECK(int(sess.run(ran)) == 1);
}

TEST_CASE("a variable read in a body sees what its node waits for") {
  own_graph f;
  auto v = pn::variable(1.0f, {.name = "v"});
  auto up = pn::assign_add(v, 1.0f);
  pn::control_dependencies after{up};
  auto inner = pn::cond(
      pn::constant(true),
      [&] {
        return pn::cond(
            pn::constant(true), [&] { return v * 10.0f; }, [&] { return v.read(); });
      },
      [&] { return v.read(); });
  pn::session sess;
  sess.run(v.initializer());
  CHECK(float(sess.run(inner)) == 20);
  CHECK(float(sess.run(inner)) == 30);
}

TEST_CASE("branches yield expressions, scalars, tuples or operations") {
  own_graph f;
  auto p = pn::placeholder<bool>({}, "p");
  auto a = pn::constant<float>({1, 2}, "a");
  auto one = pn::cond(
      p, [&] { return a; }, [&] { return 2 * a; });
  auto [left, right] = pn::cond(
      p,
      [&] {
        return std::tuple{a, 1};
      },
      [&] {
        return std::tuple{-a, 2};
      });
  auto v = pn::variable(1.0f, {.name = "v"});
  pn::operation act = pn::cond(
      p, [&] { return pn::operation(pn::assign(v, 5.0f)); }, [&] { return pn::no_op(); });
  pn::session sess;
  sess.run(v.initializer());
  const auto [o, l, r] = sess.run({{p, true}}, one, left, right);
  CHECK((text(o) == "[1, 2]" && text(l) == "[1, 2]" && text(r) == "1"));
  const auto [o2, l2, r2] = sess.run({{p, false}}, one, left, right);
  CHECK((text(o2) == "[2, 4]" && text(l2) == "[-1, -2]" && text(r2) == "2"));
  sess.run({{p, false}}, act);
  CHECK(float(sess.run(v)) == 1);
  sess.run({{p, true}}, act);
  CHECK(float(sess.run(v)) == 5);
}

TEST_CASE("a loop goes on while its condition holds") {
  own_graph f;
  auto [n, s] = pn::while_loop([](auto i, auto) { return i < 10; },
                               [](auto i, auto s) {
                                 return std::tuple{i + 1, s * 2.0f};
                               },
                               pn::constant(0), pn::constant(1.0f));
  auto none = pn::while_loop([](auto i) { return i < 0; }, [](auto i) { return i + 1; }, 7);
  auto few = pn::while_loop(
      {.maximum_iterations = 3}, [](auto i) { return i < 10; }, [](auto i) { return i + 1; }, 0);
  pn::session sess;
  CHECK(int(sess.run(n)) == 10);
  CHECK(float(sess.run(s)) == 1024);
  CHECK(int(sess.run(none)) == 7);
  CHECK(int(sess.run(few)) == 3);
}

TEST_CASE("loops nest, and use what lies around both") {
  own_graph f;
  auto step = pn::placeholder<int>({}, "step");
  auto total = pn::while_loop(
      [](auto i) { return i < 40; },
      [&](auto i) {
        return pn::while_loop([&](auto j) { return j < 5 * step; }, [&](auto j) { return j + step; }, i) + i;
      },
      1);
  pn::session sess;
  // j counts from i up to 5 * step by step; then i is added: 1 -> 11+1, 12 -> 12+12, 24 -> 24+24, 48
  CHECK(int(sess.run({{step, 2}}, total)) == 48);
  CHECK(total.node().inputs.size() == 2);  // its variable, and step
}

TEST_CASE("shapes may change from one iteration to the next where an invariant says so") {
  own_graph f;
  auto start = pn::ones<float>({1}, "start");
  const auto grow = [](auto x) { return pn::concat({x, x + 1.0f}); };
  const auto small = [](auto x) { return pn::reduce_sum(pn::ones<float>({1})) * pn::reduce_max(x) < 4.0f; };
  const auto refused = caught([&] { pn::while_loop(small, grow, start); });
  CHECK(refused.sentence() ==
        "loop variable 0 has shape [1], but the body yields [2]; give it a shape invariant that admits both");
  auto y = pn::while_loop({.shape_invariants = {{pn::unknown}}}, small, grow, start);
  pn::session sess;
  CHECK(text(sess.run(y)) == "[1, 2, 2, 3, 2, 3, 3, 4]");
  const auto slope = std::get<0>(pn::gradients(pn::reduce_sum(y), start));
  CHECK(failure([&] { sess.run(slope); }).find("a loop is differentiated only where shapes stay") != std::string::npos);
  CHECK(failure([&] {
          pn::while_loop({.shape_invariants = {{1}, {2}}}, small, grow, start);
        }).find("1 variables, but 2 shape invariants") != std::string::npos);
}

TEST_CASE("a shape that breaks its invariant when it runs is an error of the loop") {
  own_graph f;
  auto x = pn::placeholder<float>(pn::shape::any(), "x");
  auto y = pn::while_loop(
      {.maximum_iterations = 2, .shape_invariants = {{2}}}, [](auto) { return pn::constant(true); },
      [&](auto) { return pn::identity(x); }, pn::constant<float>({1, 2}));
  pn::session sess;
  CHECK(text(sess.run({{x, {{5, 6}}}}, pn::identity(pn::while_loop(
                                           {.maximum_iterations = 1}, [](auto) { return pn::constant(true); },
                                           [](auto i) { return i; }, 1)))) == "1");
  const auto e = caught([&] { sess.run({{x, pn::tensor<float>{{3}}}}, y); });
  CHECK(e.code() == pn::errc::invalid_argument);
  CHECK(e.sentence() == "loop variable 0 has the shape invariant [2], but iteration 0 yields [3]");
  CHECK(e.node() == "while");
}

TEST_CASE("gradients flow through the branch that was taken") {
  own_graph f;
  auto x = pn::placeholder<double>({}, "x");
  auto w = pn::placeholder<double>({2}, "w");
  auto y = pn::cond(
      x > 0.0, [&] { return w * w * x; }, [&] { return w - x; });
  auto loss = pn::reduce_sum(y * y);
  auto [gx, gw] = pn::gradients(loss, x, w);
  auto [gxx] = pn::gradients(gx, x);
  pn::session sess;
  // x > 0: loss = x^2 (w1^4 + w2^4); else sum (w - x)^2
  const pn::tensor<double> at = pn::tensor<double>::of({1, 2});
  auto [a, b, c] = sess.run({{x, 3.0}, {w, at}}, gx, gw, gxx);
  CHECK(text(a) == "102");
  CHECK(text(b) == "[36, 288]");
  CHECK(text(c) == "34");
  auto [d, e, h] = sess.run({{x, -1.0}, {w, at}}, gx, gw, gxx);
  CHECK(text(d) == "-10");
  CHECK(text(e) == "[4, 6]");
  CHECK(text(h) == "4");
}

TEST_CASE("a loop has gradients of any order by what its bodies use") {
  own_graph f;
  auto x = pn::placeholder<double>({}, "x");
  auto n = pn::placeholder<int>({}, "n");
  auto [i, p] = pn::while_loop([&](auto i, auto) { return i < n; },
                               [&](auto i, auto p) {
                                 return std::tuple{i + 1, p * x};
                               },
                               0, x);
  auto [g1] = pn::gradients(p, x);
  auto [g2] = pn::gradients(g1, x);
  auto [g3] = pn::gradients(g2, x);
  pn::session sess;
  auto [y, a, b, c] = sess.run({{x, 3.0}, {n, 4}}, p, g1, g2, g3);  // x^5
  CHECK(double(y) == 243);
  CHECK(double(a) == 405);
  CHECK(double(b) == 540);
  CHECK(double(c) == 540);
  auto [y0, a0, b0] = sess.run({{x, 3.0}, {n, 0}}, p, g1, g2);
  CHECK((double(y0) == 3 && double(a0) == 1 && double(b0) == 0));
}

TEST_CASE("a choice in a loop in a choice is differentiated as the whole") {
  own_graph f;
  auto x = pn::placeholder<double>({}, "x");
  auto y = pn::cond(
      x < 10.0,
      [&] {
        auto [i, s] =
            pn::while_loop([](auto i, auto) { return i < 4; },
                           [&](auto i, auto s) {
                             return std::tuple{i + 1, pn::cond(
                                                          s < 20.0, [&] { return s * x; }, [&] { return s + x; })};
                           },
                           0, pn::constant(1.0));
        return s;
      },
      [&] { return x; });
  auto [g] = pn::gradients(y, x);
  pn::session sess;
  auto [v, s] = sess.run({{x, 3.0}}, y, g);  // 1, 3, 9, 27, 30: x^3 + x
  CHECK(double(v) == 30);
  CHECK(double(s) == 28);
}

TEST_CASE("what was drawn at random in a body is what its gradient sees") {
  own_graph f;
  auto x = pn::placeholder<float>({1000}, "x");
  auto p = pn::placeholder<bool>({}, "p");
  auto y = pn::cond(
      p, [&] { return pn::dropout(x, {.rate = .5}); }, [&] { return pn::identity(x); });
  auto [i, z] = pn::while_loop([](auto i, auto) { return i < 3; },
                               [&](auto i, auto z) {
                                 return std::tuple{i + 1, pn::dropout(z, {.rate = .25})};
                               },
                               0, x);
  auto [gy] = pn::gradients(pn::reduce_sum(y), x);
  auto [gz] = pn::gradients(pn::reduce_sum(z), x);
  pn::session sess;
  pn::tensor<float> ones{{1000}};
  for (float& v : ones.span()) v = 1;
  auto [a, ga, b, gb] = sess.run({{x, ones}, {p, true}}, y, gy, z, gz);
  CHECK(a == ga);
  CHECK(b == gb);
  CHECK(std::count(a.data(), a.data() + 1000, 0.0f) > 300);
}

TEST_CASE("bodies may stand on other devices of their task, and inherit those around them") {
  own_graph f;
  auto x = pn::placeholder<float>({2}, "x");
  std::string inside;
  auto y = [&] {
    pn::device on{"/gpu:0"};
    return pn::cond(
        pn::reduce_sum(x) > 0.0f,
        [&] {
          auto heavy = x * x;
          inside = pn::to_string(pn::expr<float>(heavy).requested_device());
          pn::device back{"/cpu:0"};
          return heavy + 1.0f;
        },
        [&] { return x; });
  }();
  CHECK(inside == "/device:GPU:0");
  CHECK(pn::to_string(y.requested_device()) == "");  // the choice itself is made on a CPU
  pn::session sess{{.simulated = {pn::sim::gpu()}}};
  CHECK(text(sess.run({{x, {2, 3}}}, y)) == "[5, 10]");
  CHECK(text(sess.run({{x, {-2, -3}}}, y)) == "[-2, -3]");
}

TEST_CASE("variables keep their device in bodies") {
  own_graph f;
  auto v = [] {
    pn::device on{"/gpu:0"};
    return pn::variable(1.0f, {.name = "v"});
  }();
  auto n = pn::while_loop([](auto i) { return i < 3; },
                          [&](auto i) {
                            auto up = pn::assign_add(v, v.read() * 1.0f);
                            pn::control_dependencies after{up};
                            return i + 1;
                          },
                          0);
  pn::session sess{{.simulated = {pn::sim::gpu()}}};
  sess.run(v.initializer());
  CHECK(int(sess.run(n)) == 3);
  CHECK(float(sess.run(v)) == 4);  // v as it was before the loop is added each time
}

TEST_CASE("a body that leaves its task is refused with a sentence") {
  own_graph f;
  auto x = pn::placeholder<float>({}, "x");
  auto y = pn::cond(
      x > 0.0f,
      [&] {
        pn::device on{"/job:ps/task:1"};
        return x * 2.0f;
      },
      [&] { return pn::identity(x); });
  pn::session sess;
  const auto e = caught([&] { sess.run({{x, 1.0f}}, y); });
  CHECK(e.code() == pn::errc::invalid_argument);
  CHECK(e.sentence().find("the body of 'cond' stays within its task: ") == 0);
  CHECK(e.sentence().find("/job:ps/task:1") != std::string::npos);
  CHECK(e.node().find("cond/then/") == 0);
}

TEST_CASE("an endless loop ends with its step's time") {
  own_graph f;
  auto forever = pn::while_loop([](auto i) { return i >= 0; }, [](auto i) { return i * 1; }, 0);
  pn::session sess{{.operation_timeout = std::chrono::milliseconds(50)}};
  const auto e = caught([&] { sess.run(forever); });
  CHECK(e.code() == pn::errc::deadline_exceeded);
  CHECK(e.sentence().find("operation_timeout") != std::string::npos);
}

TEST_CASE("closing a session ends its loops") {
  own_graph f;
  auto forever = pn::while_loop([](auto i) { return i >= 0; }, [](auto i) { return i * 1; }, 0);
  auto started = pn::variable(0, {.name = "started"});
  pn::session sess;
  sess.run(started.initializer());
  std::string said;
  std::thread other([&] { said = failure([&] { sess.run(forever, pn::operation(pn::assign(started, 1))); }); });
  while (said.empty()) {  // it may close before the step begins
    sess.close();
    std::this_thread::yield();
    break;
  }
  other.join();
  CHECK((said.find("closed") != std::string::npos));
}

TEST_CASE("what fails in a body names its node there") {
  own_graph f;
  auto x = pn::placeholder<int>({pn::unknown}, "x");
  auto y = pn::cond(
      pn::constant(true),
      [&] {
        return pn::gather(pn::constant<float>({1, 2}), x);
      },
      [&] { return pn::constant<float>({0}); });
  pn::session sess;
  const auto e = caught([&] { sess.run({{x, {7}}}, y); });
  CHECK(e.sentence() == "index 7 at position 0 is not in [0, 2)");
  CHECK(e.node() == "cond/then/Gather");
}

TEST_CASE("the same loop runs in many threads at once") {
  own_graph f;
  auto x = pn::placeholder<int>({}, "x");
  auto y = pn::while_loop([](auto i) { return i < 1000; }, [&](auto i) { return i + x; }, 0);
  pn::session sess;
  auto step = sess.make_callable(pn::feeds(x), pn::fetches(y));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 1; t <= 4; ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 20; ++k) wrong += int(std::get<0>(step(t))) != (1000 + t - 1) / t * t;
    });
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("an expression of a body is unknown outside it") {
  own_graph f;
  pn::expr<float> leaked;
  auto x = pn::constant(1.0f, "x");
  pn::cond(
      pn::constant(true),
      [&] {
        leaked = x + 1.0f;
        return leaked;
      },
      [&] { return x; });
  CHECK(failure([&] { (void)(leaked + x); }).find("belongs to another graph than the other operands") !=
        std::string::npos);
  pn::session sess;
  CHECK(failure([&] { sess.run(leaked); }).find("belongs to another graph than the session's") != std::string::npos);
  auto made_outside = pn::no_op();
  CHECK(failure([&] {
          pn::cond(
              pn::constant(true), [&] { return made_outside; }, [&] { return pn::no_op(); });
        }).find("which was made outside") != std::string::npos);
}

TEST_CASE("what a body puts together comes from inside and outside alike") {
  own_graph f;
  auto z1 = pn::constant<float>({100, 200}), z2 = pn::constant<float>({300, 400});
  auto a = pn::placeholder<float>({2}, "a"), b = pn::placeholder<float>({2}, "b");
  auto p = pn::placeholder<bool>({}, "p");
  auto y = pn::cond(
      p,
      [&] {
        return pn::reduce_sum(pn::concat({pn::expr<float>(a), pn::expr<float>(b)}, 0));
      },
      [&] { return pn::reduce_sum(z1 + z2); });
  pn::session sess;
  CHECK(float(sess.run({{p, true}, {a, {1, 2}}, {b, {10, 20}}}, y)) == 33);
}

TEST_CASE("a variable first read behind a write in a body waits for it; its gradient through there is refused") {
  own_graph f;
  auto v = pn::variable(3.0f, {.name = "v"}), w = pn::variable(0.0f, {.name = "w"});
  auto y = pn::cond(
      pn::constant(true),
      [&] {
        auto up = pn::assign_add(w, 1.0f);
        pn::control_dependencies after{up};
        auto r = v.read();
        return r * r;
      },
      [&] { return v * 1.0f; });
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  CHECK(float(sess.run(y)) == 9);
  CHECK(float(sess.run(y)) == 9);
  CHECK(float(sess.run(w)) == 2);
  const auto e = caught([&] { pn::gradients(y, v); });
  CHECK(e.code() == pn::errc::unimplemented);
  CHECK(e.sentence() ==
        "the gradient by variable 'v' is wanted, which a body of 'cond' reads after something that it waits for there; "
        "read it outside the body");
}

TEST_CASE("a gradient may be taken in a body, by what lies outside") {
  own_graph f;
  for (int i = 0; i < 500; ++i) pn::constant(1.0f);
  auto v = pn::variable(3.0f, {.name = "v"});
  auto x = pn::placeholder<float>({}, "x");
  auto y = pn::cond(
      pn::constant(true),
      [&] {
        pn::expr<float> l = v * v * x;
        auto [by_v, by_x] = pn::gradients(l, v, x);
        return by_v + by_x;
      },
      [&] { return x; });
  pn::session sess;
  sess.run(v.initializer());
  CHECK(float(sess.run({{x, 2.0f}}, y)) == 21);  // 2 v x + v v
}
