// What one asynchronous training step sends: bytes, messages and round trips between a worker and its ps, counted.
//
//   async_step [--steps=N]
//
// One ps and one worker in this process, over sockets; the network of examples/13_mnist with its variables on the ps.
// Beside it the same steps in a session of this process, which sends nothing.
#include <chrono>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <pinion/pinion.hpp>

#include "../examples/support/model.hpp"

namespace {

namespace pn = pinion;
namespace tr = pinion::train;

struct training {
  pn::graph g;
  mnist::model model;
  pn::operation init, step;

  explicit training(const pn::cluster_spec* cluster) {
    const auto use = g.as_default();
    if (cluster) {
      const pn::device on{pn::replica_device_setter{{.worker_device = "/job:worker/task:0", .cluster = *cluster}}};
      build();
    } else {
      build();
    }
  }
  void build() {
    model = mnist::build(5, 160, 42);
    auto count = tr::get_or_create_global_step();
    step = tr::momentum{{.learning_rate = .01f, .momentum = .95f}}.minimize(model.loss, {.global_step = count});
    init = pn::global_variables_initializer();
  }
};

// Microseconds a step.
double run(training& t, pn::session& sess, int steps) {
  sess.run(t.init);
  constexpr std::int64_t batch = 50;
  pn::tensor<float> images({batch, 784});
  pn::tensor<std::int32_t> labels({batch});
  for (std::int64_t i = 0; i < images.size(); ++i) images.data()[i] = static_cast<float>(i % 97) / 97;
  for (std::int64_t i = 0; i < labels.size(); ++i) labels.data()[i] = static_cast<std::int32_t>(i % 10);
  auto step = sess.make_callable(pn::feeds(t.model.X, t.model.y), pn::fetches(t.model.loss), pn::targets(t.step));
  for (int i = 0; i < 50; ++i) step(images, labels);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) step(images, labels);
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / steps;
}

pn::traffic_counts operator-(pn::traffic_counts a, const pn::traffic_counts& b) {
  return {a.bytes_sent - b.bytes_sent,       a.bytes_received - b.bytes_received,
          a.messages_sent - b.messages_sent, a.messages_received - b.messages_received,
          a.requests - b.requests,           a.writes - b.writes};
}

void print(const char* who, const pn::traffic_counts& t, int steps) {
  const auto each = [steps](std::uint64_t n) { return static_cast<double>(n) / steps; };
  fmt::print("  {:<8} {:>9.0f} bytes sent {:>6.1f} messages {:>6.1f} writes {:>6.2f} requests (round trips)\n", who,
             each(t.bytes_sent), each(t.messages_sent), each(t.writes), each(t.requests));
}

}  // namespace

int main(int argc, char** argv) try {
  const int steps = argc > 1 ? std::max(1, std::atoi(argv[1] + std::string(argv[1]).find('=') + 1)) : 1000;
  training alone(nullptr);
  pn::session here{{.graph = &alone.g}};
  const double direct = run(alone, here, steps);

  pn::local_cluster local{{{"ps", 1}, {"worker", 1}}};
  training spread(&local.spec());
  pn::session sess{{.target = local.target("worker", 0), .graph = &spread.g}};
  run(spread, sess, 1);
  const auto ps = local.server("ps", 0).traffic(), worker = local.server("worker", 0).traffic();
  const double remote = run(spread, sess, steps);
  const int counted = steps + 50 + 1;  // the first ones and the initialiser run too

  fmt::print("an asynchronous step, 1 ps and 1 worker:\n");
  print("worker", local.server("worker", 0).traffic() - worker, counted);
  print("ps", local.server("ps", 0).traffic() - ps, counted);
  fmt::print("  {:.0f} us a step, {:.2f} x the same step in one session of this process ({:.0f} us)\n", remote,
             remote / direct, direct);
  return 0;
} catch (const pn::error& e) {
  fmt::print(stderr, "async_step: {}\n", e.what());
  return 1;
}
