// One training step of the network of examples/13_mnist, in pinion, written out by hand (ideal_mlp.hpp), and in other
// libraries (peer.hpp), for small and for large batches.
//
//   mnist_step [--profile]      --profile: where a step of each spends its time
//
// All start from the same weights, take the same batches, and must have the same loss after 100 steps. Then they take
// turns: thread CPU time where one thread computes, so that other programs on the machine do not count; time on the
// wall for two threads and for other processes.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <pinion/pinion.hpp>

#include "ideal_mlp.hpp"
#include "limits.hpp"
#include "peer.hpp"
#include "step_profile.hpp"

namespace {

namespace pn = pinion;
namespace tr = pinion::train;

// The rate is small, so that thousands of steps reach no numbers below the normal ones, which slow every unit down.
constexpr float rate = .001f, momentum = .95f;
const std::vector<std::int64_t> sizes{784, 160, 160, 160, 160, 160, 10};

struct batch {
  pn::tensor<float> images;
  pn::tensor<std::int32_t> labels;
};

struct workload {
  std::int64_t rows;
  std::vector<pn::tensor<float>> weights, biases;
  std::vector<batch> batches;

  explicit workload(std::int64_t rows_a_batch) : rows(rows_a_batch) {
    std::mt19937 bits(1);
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> pixel;
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
      weights.emplace_back(pn::shape{sizes[i], sizes[i + 1]});
      biases.emplace_back(pn::shape{sizes[i + 1]});
      for (float& w : weights.back().span()) w = normal(bits) * std::sqrt(2 / static_cast<float>(sizes[i]));
    }
    for (std::int64_t i = 0; i < std::max<std::int64_t>(4, 1000 / rows); ++i) {
      auto& b = batches.emplace_back(batch{pn::tensor<float>({rows, sizes.front()}), pn::tensor<std::int32_t>({rows})});
      for (float& x : b.images.span()) x = pixel(bits);
      for (auto& y : b.labels.span()) y = static_cast<std::int32_t>(bits() % 10);
    }
  }
  const batch& operator()(std::size_t step) const { return batches[step % batches.size()]; }

  // The weights and biases of each layer, then the images and labels of each batch, as they lie in memory.
  void write(const std::string& path) const {
    std::ofstream file(path, std::ios::binary);
    const auto put = [&](auto& t) {
      file.write(reinterpret_cast<const char*>(t.data()),
                 static_cast<std::streamsize>(static_cast<std::size_t>(t.size()) * sizeof *t.data()));
    };
    for (std::size_t i = 0; i < weights.size(); ++i) put(weights[i]), put(biases[i]);
    for (const auto& b : batches) put(b.images), put(b.labels);
  }
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

using step_function = std::function<float(std::size_t)>;  // takes the number of a step, and returns its loss

step_function in_pinion(pn::session& sess, const network& net, const workload& w) {
  sess.run(net.init);
  auto step = sess.make_callable(pn::feeds(net.X, net.y), pn::fetches(net.loss), pn::targets(net.train));
  return [step, &w](std::size_t i) mutable { return float(std::get<0>(step(w(i).images, w(i).labels))); };
}
step_function by_hand(ideal::mlp& model, const workload& w) {
  return [&](std::size_t i) { return model.step(w(i).images.data(), w(i).labels.data()); };
}

bool near(const std::string& who, double loss, double expected) {
  const bool same = std::abs(loss - expected) < 2e-4 * std::abs(expected);
  fmt::print("loss after 100 steps: {:.5f} {}{}\n", loss, who, same ? "" : ": NOT THE SAME");
  return same;
}
double after_100(const step_function& step) {
  double loss = 0;
  for (std::size_t i = 0; i < 100; ++i) loss = step(i);
  return loss;
}

// One thread, by its time on a processor: the hand beside the machine, and pinion beside the hand.
void compare_with_limits(const std::string& work, ideal::mlp& hand, const step_function& step, const workload& w) {
  std::size_t at = 0;
  bench::contest c;
  const int peak =
      c.add("multiply-adds at the peak", bench::thread_seconds, [&] { bench::peak_operations(hand.operations()); });
  const int products = c.add("its products alone", bench::thread_seconds, [&] { hand.products(w(0).images.data()); });
  const int ideal = c.add("by hand", bench::thread_seconds, [&] { by_hand(hand, w)(at++); });
  const int one = c.add("pinion, 1 thread", bench::thread_seconds, [&] { step(at++); });
  c.run();
  fmt::print("{:.1f} million operations, {:.0f} GFLOP/s at the peak\n", hand.operations() * 1e-6,
             hand.operations() * 1e-9 / c.seconds(peak));
  c.row(work, products, peak, bench::at_least(.75));
  c.row(work, ideal, peak, bench::at_least(.7));
  c.row(work, one, ideal, bench::at_most(w.rows < 100 ? 1.03 : 1.02));
}

// One and two threads and other libraries, by the clock on the wall.
bool compare_with_peers(const std::string& work, ideal::mlp& hand, const step_function& step_one,
                        const step_function& step_two, const workload& w, double expected) {
  const std::string file =
      (std::filesystem::temp_directory_path() / fmt::format("pinion_mnist_step.{}", ::getpid())).string();
  w.write(file);
  std::size_t at = 0;
  bool same = true;
  bench::contest c;
  const int ideal = c.add("by hand, 1 thread", bench::wall_seconds, [&] { by_hand(hand, w)(at++); });
  const int one = c.add("pinion, 1 thread", bench::wall_seconds, [&] { step_one(at++); });
  const int two = c.add("pinion, 2 threads", bench::wall_seconds, [&] { step_two(at++); });
  std::vector<std::vector<int>> peers;
  for (const char* const library : {"TENSORFLOW", "JAX", "TORCH"}) {
    std::vector<int> found;
    for (const char* const threads : {"1", "2"}) {
      const auto other = bench::peer::start(library, {"mnist", threads, std::to_string(w.rows), file});
      if (!other) break;
      other->turn(100);
      same &= near(other->name(), other->result(), expected);
      found.push_back(add(c, other, threads == std::string("1") ? ", 1 thread" : ", 2 threads"));
    }
    if (!found.empty()) peers.push_back(found);
  }
  std::filesystem::remove(file);
  c.run(9);
  c.row(work, two, ideal, bench::at_most(.65));
  for (const auto& p : peers) {
    c.row(work, one, c.fastest(p), bench::at_most(.55));
    c.row(work, two, c.fastest(p), bench::at_most(.4));
  }
  return same;
}

bool compare(const workload& w) {
  pn::graph g;
  const auto use = g.as_default();
  const network net(w);
  pn::session one{{.inter_op_threads = 1, .intra_op_threads = 1}};
  pn::session two{{.inter_op_threads = 2, .intra_op_threads = 2}};
  const auto step_one = in_pinion(one, net, w), step_two = in_pinion(two, net, w);
  ideal::mlp hand(w.weights, w.biases, w.rows, rate, momentum);
  const double expected = after_100(by_hand(hand, w));
  bool same = near("by hand", expected, expected);
  same &= near("in pinion, 1 thread", after_100(step_one), expected);
  same &= near("in pinion, 2 threads", after_100(step_two), expected);
  const std::string work = fmt::format("MNIST step, batch {}", w.rows);
  compare_with_limits(work, hand, step_one, w);
  return compare_with_peers(work, hand, step_one, step_two, w, expected) && same;
}

void profile(const workload& w) {
  pn::graph g;
  const auto use = g.as_default();
  const network net(w);
  bench::step_profile profile(g);
  profile.run({{}, {}, {net.init.id(g)}}, {}, 1);
  const pn::runtime::step_signature step{
      {net.X.endpoint(g), net.y.endpoint(g)}, {net.loss.endpoint(g)}, {net.train.id(g)}};
  const std::vector<pn::any_tensor> feeds{w(0).images.untyped(), w(0).labels.untyped()};
  ideal::mlp hand(w.weights, w.biases, w.rows, rate, momentum);
  bench::call_times by_hand;
  hand.times = &by_hand;
  for (const int times : {50, 1000}) {  // the first ones to get warm
    profile.times().forget();
    by_hand.forget();
    profile.run(step, feeds, times);
    for (int i = 0; i < times; ++i) {
      by_hand.begin_step();
      hand.step(w(0).images.data(), w(0).labels.data());
      by_hand.end_step();
    }
  }
  fmt::print("\n{:<38} {:>5} {:>9} {:>9}\n", fmt::format("pinion, batch {}, {} items a step", w.rows, profile.items()),
             "calls", "us/step", "us/call");
  profile.times().print();
  fmt::print("\nby hand\n");
  by_hand.print();
}

}  // namespace

int main(int argc, char** argv) {
  bool same = true;
  for (const std::int64_t rows : {50, 512}) {
    const workload w(rows);
    if (argc > 1 && std::string(argv[1]) == "--profile")
      profile(w);
    else
      same &= compare(w);
  }
  return same ? 0 : 1;
}
