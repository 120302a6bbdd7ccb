// What one asynchronous training step sends: bytes, messages and round trips between a worker and its ps, counted.
//
//   async_step [--steps=N] [--rounds=N] [--tcp]
//
// The worker is this process, and the ps another; the network of examples/13_mnist has its variables on the ps. Beside
// it the same steps in a session of this process, which sends nothing: rounds take the two in turn, and medians over
// all steps of a round are told, and over the rounds.
#include <unistd.h>

#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <pinion/pinion.hpp>

#include "../examples/support/model.hpp"
#include "clocks.hpp"
#include "loopback.hpp"
#include "other_process.hpp"

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

// A step that is called over and over with the same batch. It refers to the session and the graph.
class repeated {
 public:
  repeated(training& t, pn::session& sess) : images_({batch, 784}), labels_({batch}) {
    sess.run(t.init);
    for (std::int64_t i = 0; i < images_.size(); ++i) images_.data()[i] = static_cast<float>(i % 97) / 97;
    for (std::int64_t i = 0; i < labels_.size(); ++i) labels_.data()[i] = static_cast<std::int32_t>(i % 10);
    auto step = sess.make_callable(pn::feeds(t.model.X, t.model.y), pn::fetches(t.model.loss), pn::targets(t.step));
    step_ = [this, step]() mutable { step(images_, labels_); };
    time(50);
  }
  repeated(const repeated&) = delete;
  // The median time of some calls, in microseconds.
  double time(int calls) {
    std::vector<double> all;
    for (int i = 0; i < calls; ++i) {
      const double start = bench::wall_seconds();
      step_();
      all.push_back((bench::wall_seconds() - start) * 1e6);
    }
    return bench::median(std::move(all));
  }

 private:
  static constexpr std::int64_t batch = 50;
  pn::tensor<float> images_;
  pn::tensor<std::int32_t> labels_;
  std::function<void()> step_;
};

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

// ---- the other process

int free_port() {
  int port = 0;
  ::close(bench::listen_anywhere(port));
  return port;
}
pn::cluster_spec cluster_at(const std::string& ps_at, const std::string& worker_at) {
  return {{"ps", {"127.0.0.1:" + ps_at}}, {"worker", {"127.0.0.1:" + worker_at}}};
}

// Tells the traffic of the ps for each line that comes.
int serve(const std::string& ps_at, const std::string& worker_at, bool shares) {
  pn::server ps(cluster_at(ps_at, worker_at), {.job = "ps", .config = {.shared_memory = shares}});
  for (std::string asks; bench::tell("it listens"), std::getline(std::cin, asks);) {
    const auto t = ps.traffic();
    bench::tell(fmt::format("{} {} {} {} {} {}", t.bytes_sent, t.bytes_received, t.messages_sent, t.messages_received,
                            t.requests, t.writes));
  }
  return 0;
}

pn::traffic_counts traffic_of(bench::other_process& ps) {
  ps.say("traffic");
  std::istringstream told(ps.line());
  pn::traffic_counts t;
  told >> t.bytes_sent >> t.bytes_received >> t.messages_sent >> t.messages_received >> t.requests >> t.writes;
  ps.line();
  return t;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 4 && words[0] == "--serve") return serve(words[1], words[2], words[3] == "shares");
  int steps = 200, rounds = 15;
  bool shares = true;
  for (const auto& word : words) {
    if (word.starts_with("--steps=")) steps = std::stoi(word.substr(8));
    if (word.starts_with("--rounds=")) rounds = std::stoi(word.substr(9));
    if (word == "--tcp") shares = false;
  }

  const std::string ps_at = std::to_string(free_port()), worker_at = std::to_string(free_port());
  bench::other_process ps({"/proc/self/exe", "--serve", ps_at, worker_at, shares ? "shares" : "does not"});
  ps.line();
  const auto cluster = cluster_at(ps_at, worker_at);
  pn::server worker(cluster, {.job = "worker", .config = {.shared_memory = shares}});
  training alone(nullptr), spread(&cluster);
  pn::session here{{.graph = &alone.g}}, there{{.target = worker.target(), .graph = &spread.g}};
  repeated one(alone, here), two(spread, there);

  pn::traffic_counts by_worker{}, by_ps{};
  std::vector<double> direct, remote, ratios;
  for (int r = 0; r < rounds; ++r) {
    direct.push_back(one.time(steps));
    const auto worker_before = worker.traffic(), ps_before = traffic_of(ps);
    remote.push_back(two.time(steps));
    by_worker = worker.traffic() - worker_before;
    by_ps = traffic_of(ps) - ps_before;
    ratios.push_back(remote.back() / direct.back());
  }
  fmt::print("an asynchronous step, 1 ps and 1 worker:\n");
  print("worker", by_worker, steps);
  print("ps", by_ps, steps);
  fmt::print("  {:.0f} us a step, {:.2f} x the same step in one session of this process ({:.0f} us)\n",
             bench::median(remote), bench::median(ratios), bench::median(direct));
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "async_step: {}\n", e.what());
  return 1;
}
