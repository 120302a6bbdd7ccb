// What one asynchronous training step sends: bytes, messages and round trips between a worker and its ps, counted.
//
//   async_step [--steps=N] [--rounds=N] [--tcp] [--workers=N]
//
// The worker is this process, and the ps another; the network of examples/13_mnist has its variables on the ps. Beside
// it the same steps in a session of this process, which sends nothing and has as many threads as the worker. Rounds
// take the two in turn, and medians over all steps of a round are told, and over the rounds.
#include <unistd.h>

#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
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

  explicit training(const pn::cluster_spec* cluster, int task = 0) {
    const auto use = g.as_default();
    if (cluster) {
      const pn::device on{pn::replica_device_setter{
          {.worker_device = "/job:worker/task:" + std::to_string(task), .cluster = *cluster}}};
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
  repeated(training& t, pn::session& sess, bool initialises = true) : images_({batch, 784}), labels_({batch}) {
    if (initialises) sess.run(t.init);
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
  // How many calls end within some seconds.
  int count(double seconds) {
    int calls = 0;
    for (const double until = bench::wall_seconds() + seconds; bench::wall_seconds() < until; ++calls) step_();
    return calls;
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
// The ports of a cluster with one ps, which comes first, and workers.
using ports = std::vector<std::string>;
ports free_ports(int workers) {
  ports all;
  for (int i = 0; i <= workers; ++i) all.push_back(std::to_string(free_port()));
  return all;
}
pn::cluster_spec cluster_at(const ports& all) {
  std::vector<std::string> workers;
  for (std::size_t i = 1; i < all.size(); ++i) workers.push_back("127.0.0.1:" + all[i]);
  return {{"ps", {"127.0.0.1:" + all[0]}}, {"worker", workers}};
}
std::vector<std::string> words_of(const std::string& what, bool shares, const ports& all) {
  std::vector<std::string> words{"/proc/self/exe", what, shares ? "shares" : "does not"};
  words.insert(words.end(), all.begin(), all.end());
  return words;
}

// Tells the traffic of the ps for each line that comes.
int serve(const pn::cluster_spec& cluster, bool shares) {
  pn::server ps(cluster, {.job = "ps", .config = {.shared_memory = shares}});
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

// A worker that takes steps for as many seconds as each line says, and tells how many.
int work(const pn::cluster_spec& cluster, int task, bool shares) {
  pn::server worker(cluster, {.job = "worker", .task = task, .config = {.shared_memory = shares}});
  training spread(&cluster, task);
  pn::session sess{{.target = worker.target(), .graph = &spread.g}};
  repeated step(spread, sess, task == 0);
  for (std::string seconds; bench::tell("it has begun"), std::getline(std::cin, seconds);)
    bench::tell(std::to_string(step.count(std::stod(seconds))));
  return 0;
}

// The median number of steps in a second that some workers take beside each other.
double steps_of(int workers, int rounds, bool shares) {
  const ports all = free_ports(workers);
  bench::other_process ps(words_of("--serve", shares, all));
  ps.line();
  std::vector<std::unique_ptr<bench::other_process>> tasks;
  for (int i = 0; i < workers; ++i) {  // one after the other, since the first initialises
    tasks.push_back(std::make_unique<bench::other_process>(words_of("--work=" + std::to_string(i), shares, all)));
    tasks.back()->line();
  }
  std::vector<double> rates;
  for (int r = 0; r < rounds; ++r) {
    for (const auto& task : tasks) task->say("1");
    double steps = 0;
    for (const auto& task : tasks) steps += std::stod(task->line()), task->line();
    rates.push_back(steps);
  }
  return bench::median(std::move(rates));
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() > 3 && words[0].starts_with("--")) {
    const auto cluster = cluster_at({words.begin() + 2, words.end()});
    const bool shares = words[1] == "shares";
    if (words[0] == "--serve") return serve(cluster, shares);
    if (words[0].starts_with("--work=")) return work(cluster, std::stoi(words[0].substr(7)), shares);
  }
  int steps = 200, rounds = 15, workers = 0;
  bool shares = true;
  for (const auto& word : words) {
    if (word.starts_with("--steps=")) steps = std::stoi(word.substr(8));
    if (word.starts_with("--rounds=")) rounds = std::stoi(word.substr(9));
    if (word.starts_with("--workers=")) workers = std::stoi(word.substr(10));
    if (word == "--tcp") shares = false;
  }
  if (workers > 0) {
    fmt::print("{:.0f} asynchronous steps a second, 1 ps and {} workers\n", steps_of(workers, rounds, shares), workers);
    return 0;
  }

  const ports all = free_ports(1);
  bench::other_process ps(words_of("--serve", shares, all));
  ps.line();
  const auto cluster = cluster_at(all);
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
