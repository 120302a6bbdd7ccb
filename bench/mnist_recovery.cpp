// Training that goes on although its tasks are killed: a ps and three workers train on handwritten digits, one of the
// four is killed (SIGKILL) every so often and started again, and what comes of it is told.
//
//   mnist_recovery [seed] [epochs] [seconds from one kill to the next; 0: none]
//
// Each restart of the chief, and each new session of its, must begin at the last checkpoint that was on disk, or later.
#include <poll.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <pinion/pinion.hpp>

#include "../examples/14_mnist_cluster/member.hpp"
#include "../examples/support/free_port.hpp"
#include "../examples/support/mnist.hpp"
#include "../examples/support/model.hpp"
#include "../examples/support/process.hpp"
#include "../examples/support/stopwatch.hpp"

namespace {

namespace pn = pinion;
namespace tr = pinion::train;

struct settings {
  std::int64_t seed = 1;
  int epochs = 20;
  double pause = 20;
};

// ---- the tasks

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

struct tell_beginning {
  pn::variable_handle<std::int64_t> step = tr::get_or_create_global_step();
  void after_create_session(pn::session& s, tr::coordinator&) {
    say(fmt::format("begins at step {}", std::int64_t(s.run(step))));
  }
};

void work(const member& me, const settings& s, const std::string& dir) {
  const auto digits = mnist::open();
  constexpr std::int64_t batch = 50;
  const std::int64_t last = s.epochs * (static_cast<std::int64_t>(digits.train.count) / batch);
  pn::server server{me.cluster, {.job = "worker", .task = me.task}};
  const pn::device on{pn::replica_device_setter{{.worker_device = me.device(), .cluster = me.cluster}}};
  const mnist::model m = mnist::build(5, 160, s.seed, .1);
  auto step = tr::get_or_create_global_step();
  const tr::momentum optimizer{{.learning_rate = mnist::rate(.01, step, last), .momentum = .95}};
  auto train = optimizer.minimize(m.loss, {.global_step = step});

  tr::monitored_training_session sess{
      {.master = server.target(),
       .is_chief = me.is_chief(),
       .checkpoint_dir = me.is_chief() ? dir : "",
       .hooks = {tr::stop_at_step({.last_step = last}), tr::nan_tensor(m.loss), tell_beginning{step}},
       .save_checkpoint_secs = 2,
       .config = {.operation_timeout = std::chrono::seconds(60)},
       .log_step_count_steps = 0,
       .log = [](std::string_view line) { say(std::string(line)); }}};
  mnist::batches batches(digits.train, batch, static_cast<std::uint64_t>(100 * s.seed + me.task));
  while (!sess.should_stop()) {
    const auto [x, y] = batches.next();
    sess.run({{m.X, x}, {m.y, y}}, train);
  }
  say(fmt::format("test accuracy {:.4f}", mnist::test(sess.raw_session(), m, digits.test)));
}

// ---- who kills them

class killer {
 public:
  explicit killer(const settings& s) : s_(s), random_(static_cast<unsigned>(s.seed)) {
    dir_ = std::filesystem::temp_directory_path() / fmt::format("pinion_recovery_{}", ::getpid());
    for (const auto& [job, count] : {std::pair<std::string, int>{"ps", 1}, {"worker", 3}})
      for (int task = 0; task < count; ++task) {
        cluster_.add_task(job, task, ports_.emplace_back().address());
        names_.push_back({job, task});
      }
  }
  ~killer() {
    running_.clear();
    std::filesystem::remove_all(dir_);
  }

  // True if training ended as it should.
  bool run() {
    for (std::size_t i = 0; i < names_.size(); ++i) running_.push_back(start(i));
    stopwatch since_kill;
    while (!accuracy_) {
      listen();
      look_at_checkpoints();
      if (s_.pause == 0 || accuracy_ || since_kill.seconds() < s_.pause) continue;
      since_kill = {};
      kill_one();
    }
    fmt::print("seed {}: {} kills ({}), test accuracy {:.4f}, {:.0f} s, saved steps lost: {}\n", s_.seed,
               killed_.size(), fmt::join(killed_, " "), *accuracy_, watch_.seconds(), lost_);
    return lost_ == 0;
  }

 private:
  std::unique_ptr<process> start(std::size_t i) const {
    const auto& [job, task] = names_[i];
    std::vector<std::string> words{
        "mnist_recovery", std::to_string(s_.seed), std::to_string(s_.epochs), "0", job, std::to_string(task),
        dir_.string()};
    for (const auto& [j, t] : names_) words.push_back(cluster_.address(j, t));
    return std::make_unique<process>(job + " " + std::to_string(task), "/proc/self/exe", words);
  }
  void kill_one() {
    const auto i = std::uniform_int_distribution<std::size_t>(0, names_.size() - 1)(random_);
    look_at_checkpoints();
    fmt::print("{:6.1f} s: {} is killed; the last checkpoint is of step {}\n", watch_.seconds(), running_[i]->name(),
               saved_);
    std::fflush(stdout);
    running_[i]->kill();
    running_[i]->wait();
    text_[i].clear();
    killed_.push_back(names_[i].first == "ps" ? "ps" : names_[i].second == 0 ? "chief" : "worker");
    running_[i] = start(i);
  }
  void listen() {
    std::vector<pollfd> sources;
    for (const auto& p : running_) sources.push_back({p->output(), POLLIN, 0});
    ::poll(sources.data(), sources.size(), 50);
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (sources[i].revents == 0) continue;
      const std::string said = running_[i]->read();
      if (said.empty() && !accuracy_) ended(i);
      for (const char c : said) {
        if (c == '\n')
          understand(i, std::exchange(text_[i], {}));
        else
          text_[i] += c;
      }
    }
  }
  void ended(std::size_t i) {
    const std::string how = running_[i]->wait();
    if (names_[i].second > 0 && how.empty()) return;  // a worker that is done
    throw pn::error(pn::errc::aborted, running_[i]->name() + " ended: " + (how.empty() ? "too early" : how));
  }
  void understand(std::size_t i, const std::string& line) {
    fmt::print("{:6.1f} s: {}: {}\n", watch_.seconds(), running_[i]->name(), line);
    std::fflush(stdout);
    if (names_[i] != std::pair<std::string, int>{"worker", 0}) return;
    if (line.starts_with("test accuracy ")) accuracy_ = std::stod(line.substr(14));
    if (line.starts_with("begins at step ") && std::stoll(line.substr(15)) < saved_) {
      fmt::print("it went back behind step {}\n", saved_);
      ++lost_;
    }
  }
  // The step of the last one that is complete.
  void look_at_checkpoints() {
    const std::string latest = tr::latest_checkpoint(dir_);
    if (!latest.empty())
      saved_ = std::max(saved_, static_cast<std::int64_t>(std::stoll(latest.substr(latest.rfind('-') + 1))));
  }

  const settings s_;
  std::mt19937 random_;
  std::filesystem::path dir_;
  std::vector<free_port> ports_;
  pn::cluster_spec cluster_;
  std::vector<std::pair<std::string, int>> names_;
  std::vector<std::unique_ptr<process>> running_;
  std::map<std::size_t, std::string> text_;
  std::vector<std::string> killed_;
  std::optional<double> accuracy_;
  std::int64_t saved_ = 0;
  int lost_ = 0;
  stopwatch watch_;
};

void be(const std::vector<std::string>& words, const settings& s) {
  member me{{}, words[3], std::stoi(words[4])};
  me.cluster.add_task("ps", 0, words[6]);
  for (int task = 0; task < 3; ++task) me.cluster.add_task("worker", task, words[7 + static_cast<std::size_t>(task)]);
  if (me.job == "ps")
    pn::server(me.cluster, {.job = "ps", .task = me.task}).join();
  else
    work(me, s, words[5]);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  settings s;
  if (words.size() > 0) s.seed = std::stoll(words[0]);
  if (words.size() > 1) s.epochs = std::stoi(words[1]);
  if (words.size() > 2) s.pause = std::stod(words[2]);
  if (words.size() <= 3) return killer(s).run() ? 0 : 1;
  be(words, s);
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "mnist_recovery: {}\n", e.what());
  return 1;
}
