// One training step of the network of examples/13_mnist, in pinion and written out by hand (ideal_mlp.hpp).
//
//   mnist_step [--rounds=N] [--profile]      --profile: where a step of each spends its time
//
// Both start from the same weights and must have the same loss after 100 steps. Then they take turns: thread CPU time
// where one thread computes, so that other programs on the machine do not count; wall time with the default threads.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <pinion/pinion.hpp>

#include "ideal_mlp.hpp"
#include "step_profile.hpp"

namespace {

namespace pn = pinion;
namespace tr = pinion::train;

constexpr std::int64_t rows = 50;
constexpr float rate = .01f, momentum = .95f;
const std::vector<std::int64_t> sizes{784, 160, 160, 160, 160, 160, 10};

struct batch {
  pn::tensor<float> images{{rows, sizes.front()}};
  pn::tensor<std::int32_t> labels{{rows}};
};

struct workload {
  std::vector<pn::tensor<float>> weights, biases;
  std::vector<batch> batches{20};
  std::size_t next = 0;

  workload() {
    std::mt19937 bits(1);
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> pixel;
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
      weights.emplace_back(pn::shape{sizes[i], sizes[i + 1]});
      biases.emplace_back(pn::shape{sizes[i + 1]});
      for (float& w : weights.back().span()) w = normal(bits) * std::sqrt(2 / static_cast<float>(sizes[i]));
    }
    for (auto& b : batches) {
      for (float& x : b.images.span()) x = pixel(bits);
      for (auto& y : b.labels.span()) y = static_cast<std::int32_t>(bits() % 10);
    }
  }
  const batch& operator()(std::size_t step) const { return batches[step % batches.size()]; }
};

struct network {
  pn::expr<float> X, loss;
  pn::expr<std::int32_t> y;
  pn::operation train, init;

  explicit network(const workload& from) {
    auto images = pn::placeholder<float>({pn::unknown, sizes.front()}, "X");
    auto labels = pn::placeholder<std::int32_t>({pn::unknown}, "y");
    pn::expr<float> h = images;
    for (std::size_t i = 0; i < from.weights.size(); ++i) {
      auto W = pn::variable(from.weights[i], {.name = "W"});
      auto b = pn::variable(from.biases[i], {.name = "b"});
      if (i + 1 < from.weights.size())
        h = pn::elu(pn::matmul(h, W) + b);
      else
        h = pn::matmul(h, W) + b;
    }
    loss = pn::reduce_mean(pn::sparse_softmax_cross_entropy_with_logits(labels, h));
    train = tr::momentum{{.learning_rate = rate, .momentum = momentum}}.minimize(loss);
    init = pn::global_variables_initializer();
    X = images;
    y = labels;
  }
};

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
double wall_seconds() {
  return std::chrono::duration<double>(bench::clock::now().time_since_epoch()).count();
}

using bench::median;

constexpr int steps_a_round = 25;

// Seconds a step of one round.
template <class Clock, class Step>
double time_round(Clock now, std::size_t& at, Step&& step) {
  const double start = now();
  for (int i = 0; i < steps_a_round; ++i) step(at++);
  return (now() - start) / steps_a_round;
}

template <class A, class B>
bool same_loss(const char* what, A&& ideal, B&& pinion) {
  double a = 0, b = 0;
  for (std::size_t i = 0; i < 100; ++i) a = ideal(i), b = pinion(i);
  const bool same = std::abs(a - b) < 5e-5 * std::abs(a);
  fmt::print("loss after 100 steps: {:.5f} by hand, {:.5f} in pinion, {}{}\n", a, b, what,
             same ? "" : ": NOT THE SAME");
  return same;
}

void print_row(const char* what, double seconds, double ideal) {
  fmt::print("{:<28} {:9.1f} {:9.0f} {:9.2f}\n", what, seconds * 1e6, 1 / seconds, seconds / ideal);
}

bool compare(const workload& w, int rounds) {
  const network net(w);
  pn::session one{{.inter_op_threads = 1, .intra_op_threads = 1}}, all;
  one.run(net.init);
  all.run(net.init);
  auto step_one = one.make_callable(pn::feeds(net.X, net.y), pn::fetches(net.loss), pn::targets(net.train));
  auto step_all = all.make_callable(pn::feeds(net.X, net.y), pn::fetches(net.loss), pn::targets(net.train));
  ideal::mlp hand(w.weights, w.biases, rows, rate, momentum), hand_again(w.weights, w.biases, rows, rate, momentum);
  const auto pinion_in = [&](auto& step) {
    return [&](std::size_t i) { return static_cast<float>(std::get<0>(step(w(i).images, w(i).labels))); };
  };
  const auto by_hand = [&](auto& model) {
    return [&](std::size_t i) { return model.step(w(i).images.data(), w(i).labels.data()); };
  };
  bool same = same_loss("one thread", by_hand(hand), pinion_in(step_one));
  same &= same_loss("default threads", by_hand(hand_again), pinion_in(step_all));

  std::vector<double> ideal, single, wall_ideal, wall_single, several;
  std::size_t at = 0;
  for (int i = 0; i < rounds; ++i) {
    ideal.push_back(time_round(thread_seconds, at, by_hand(hand)));
    single.push_back(time_round(thread_seconds, at, pinion_in(step_one)));
    wall_ideal.push_back(time_round(wall_seconds, at, by_hand(hand)));
    wall_single.push_back(time_round(wall_seconds, at, pinion_in(step_one)));
    several.push_back(time_round(wall_seconds, at, pinion_in(step_all)));
  }
  fmt::print("\n{:<28} {:>9} {:>9} {:>9}\n", "", "us/step", "steps/s", "x ideal");
  print_row("by hand, CPU", median(ideal), median(ideal));
  print_row("pinion, 1 thread, CPU", median(single), median(ideal));
  print_row("by hand, wall", median(wall_ideal), median(wall_ideal));
  print_row("pinion, 1 thread, wall", median(wall_single), median(wall_ideal));
  print_row("pinion, all threads, wall", median(several), median(wall_ideal));
  return same;
}

void profile(const workload& w, int rounds) {
  pn::graph g;
  const auto use = g.as_default();
  const network net(w);
  bench::step_profile profile(g);
  profile.run({{}, {}, {net.init.id()}}, {}, 1);
  const pn::runtime::step_signature step{{net.X.endpoint(), net.y.endpoint()}, {net.loss.endpoint()}, {net.train.id()}};
  const std::vector<pn::any_tensor> feeds{w(0).images.untyped(), w(0).labels.untyped()};
  ideal::mlp hand(w.weights, w.biases, rows, rate, momentum);
  bench::call_times by_hand;
  hand.times = &by_hand;
  for (const int times : {50, rounds * steps_a_round}) {  // the first ones to get warm
    profile.times().forget();
    by_hand.forget();
    profile.run(step, feeds, times);
    for (int i = 0; i < times; ++i) {
      by_hand.begin_step();
      hand.step(w(0).images.data(), w(0).labels.data());
      by_hand.end_step();
    }
  }
  fmt::print("\n{:<38} {:>5} {:>9} {:>9}\n", fmt::format("pinion, {} items a step", profile.items()), "calls",
             "us/step", "us/call");
  profile.times().print();
  fmt::print("\nby hand\n");
  by_hand.print();
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 40;
  bool profiled = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--rounds=", 0) == 0) rounds = std::max(1, std::atoi(word.c_str() + 9));
    if (word == "--profile") profiled = true;
  }
  const workload w;
  const bool same = compare(w, rounds);
  if (profiled) profile(w, rounds);
  return same ? 0 : 1;
}
