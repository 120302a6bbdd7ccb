// What is not as in TensorFlow on purpose: the rows of the table in README that no other room tests.
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include <support/caught.hpp>
#include <support/own_graph.hpp>

namespace {

using namespace pinion;

const float nan = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("an integer divided by zero is zero, where TensorFlow fails the step") {
  own_graph f;
  auto a = placeholder<int>({3}, "a"), b = placeholder<int>({3}, "b");
  session sess;
  const tensor<int> quotient = sess.run({{a, {7, -7, 7}}, {b, {0, 0, -2}}}, a / b);
  CHECK((quotient(0) == 0 && quotient(1) == 0 && quotient(2) == -3));
}

TEST_CASE("the gradient of pow by the exponent is zero at bases up to zero, also where the power is no number") {
  own_graph f;
  auto x = placeholder<float>({4}, "x"), y = placeholder<float>({4}, "y");
  auto by_exponent = std::get<0>(gradients(pow(x, y), y));
  session sess;
  const tensor<float> d = sess.run({{x, {-2, 0, 0, -2}}, {y, {2, 2, -1, .5f}}}, by_exponent);
  for (int i = 0; i < 4; ++i) CHECK(d(i) == 0);  // the last two are NaN in TensorFlow
}

TEST_CASE("subnormal numbers are kept, which TensorFlow flushes to zero") {
  own_graph f;
  auto x = placeholder<float>({20}, "x"), y = placeholder<float>({20}, "y");
  session sess;
  tensor<float> small({20}), smaller({20});
  for (float& v : small.span()) v = 1e-30f;
  for (float& v : smaller.span()) v = 1e-10f;
  const tensor<float> product = sess.run({{x, small}, {y, smaller}}, x * y);
  for (int i = 0; i < 20; ++i) CHECK(product(i) == 1e-30f * 1e-10f);
  CHECK(product(0) > 0);
}

TEST_CASE("NaN counts as greatest in argmax, which TensorFlow passes over") {
  own_graph f;
  auto x = placeholder<float>({3}, "x");
  session sess;
  CHECK(sess.run({{x, {1, nan, 3}}}, argmax(x, 0)) == 1);
  CHECK(sess.run({{x, {nan, 1, 3}}}, argmax(x, 0)) == 0);
}

TEST_CASE("elements that a dequeue had collected when its time was up stay in the queue") {
  own_graph f;
  const fifo_queue<float> q({.capacity = 10, .shapes = {{}}, .name = "q"});
  auto put = q.enqueue(1.f);
  auto three = q.dequeue_many(3);
  auto size = q.size();
  session sess{{.operation_timeout = std::chrono::milliseconds(50)}};
  sess.run(put);
  sess.run(put);
  CHECK(caught([&] { sess.run(three); }).code() == errc::deadline_exceeded);
  CHECK(sess.run(size) == 2);
}

TEST_CASE("what cannot be placed is refused only by steps that need it") {
  own_graph f;
  auto here = constant(1.f, "here");
  const device nowhere{"/job:nobody"};
  auto there = constant(2.f, "there");
  session sess;
  CHECK(sess.run(here) == 1);
  CHECK(caught([&] { sess.run(there); }).node() == "there");
}

TEST_CASE("a node without state stays on the device that its session gave it, whatever is added to the graph") {
  own_graph f;
  auto one = constant(1.f, "one");
  session sess{{.cpu_devices = 2}};
  sess.run(one);
  const device on{"/cpu:1"};
  auto two = identity(one, "two");
  const std::string first = "/job:localhost/replica:0/task:0/device:CPU:0";
  CHECK(sess.plan(two).device_of("one") == first);  // with its consumers it would be on the other
  session other{{.cpu_devices = 2}};
  CHECK(other.plan(two).device_of("one") != first);
}

TEST_CASE("requests that overlap, but neither of which refines the other, do not merge through a reference") {
  own_graph f;
  const auto on = [](const char* spec, auto make) {
    const device here{spec};
    return make();
  };
  const auto q = on("/job:localhost", [] { return fifo_queue<float>({.capacity = 2, .name = "q"}); });
  const auto size = on("/cpu:1", [&] { return q.size(); });
  session sess{{.cpu_devices = 2}};
  CHECK(sess.plan(size).device_of("q") == "/job:localhost/replica:0/task:0/device:CPU:0");
}

}  // namespace
