// What a step costs once it has run: no allocation.
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <tuple>

#include "support/counted_new.hpp"
#include "support/own_graph.hpp"

namespace {

using namespace pinion;

// The calls of operator new in this thread while a function runs once, after it ran a few times.
template <class F>
std::size_t allocations_of(F&& call) {
  for (int i = 0; i < 3; ++i) call();
  const std::size_t before = counted_new::calls_here;
  call();
  return counted_new::calls_here - before;
}

const session_options by_one_thread{.inter_op_threads = 1, .intra_op_threads = 1};

TEST_CASE("a call of a prepared step allocates nothing") {
  own_graph own;
  auto x = placeholder<float>({}, "x");
  session sess(by_one_thread);
  const auto step = sess.make_callable(feeds(x), fetches(x * 2.0f + 1.0f));
  const tensor<float> three = 3.0f;
  CHECK(allocations_of([&] { step(three); }) == 0);
}

TEST_CASE("the forward pass of a layer allocates nothing") {
  own_graph own;
  auto x = placeholder<float>({8, 16}, "x");
  auto w = variable(tensor<float>({16, 4}), {.name = "w"});
  auto b = variable(tensor<float>({4}), {.name = "b"});
  session sess(by_one_thread);
  sess.run(global_variables_initializer());
  const auto step = sess.make_callable(feeds(x), fetches(tanh(matmul(x, w) + b)));
  const tensor<float> batch({8, 16});
  CHECK(allocations_of([&] { step(batch); }) == 0);
}

TEST_CASE("a step of products that do not need each other allocates nothing on two threads") {
  own_graph own;
  auto x = placeholder<float>({128, 128}, "x");
  auto a = matmul(x, x), b = matmul(x, x, {.transpose_b = true});
  session sess({.inter_op_threads = 2, .intra_op_threads = 1});
  const auto step = sess.make_callable(feeds(x), fetches(a, b));
  const tensor<float> square({128, 128});
  for (int i = 0; i < 100; ++i) step(square);  // the first are measured, then both threads fill their stocks of blocks
  std::size_t least = 1;                       // a call may meet a new plan of the lanes
  for (int i = 0; i < 20; ++i) {
    const std::size_t before = counted_new::calls;
    step(square);
    least = std::min<std::size_t>(least, counted_new::calls - before);
  }
  CHECK(least == 0);
}

TEST_CASE("an iteration of a loop allocates nothing") {
  own_graph own;
  auto n = placeholder<float>({}, "n");
  auto x = placeholder<float>({64}, "x");
  const auto [i, y] = while_loop([&](auto i, auto) { return i < n; },
                                 [](auto i, auto y) {
                                   return std::tuple{i + 1.0f, tanh(y * 0.5f)};
                                 },
                                 0.0f, x);
  session sess(by_one_thread);
  const auto loop = sess.make_callable(feeds(x, n), fetches(y));
  const tensor<float> start({64});
  const auto of_turns = [&](float turns) { return allocations_of([&] { loop(start, turns); }); };
  CHECK(of_turns(1000) == of_turns(10));
}

}  // namespace
