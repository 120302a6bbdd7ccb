// A whole cluster, training included, in simulated time: a hundred hours in minutes, with faults at random. Each run is
// drawn from its seed, and happens again in the same way with it.
//
//   bench_simulation --hours=100 --seed=1
//   bench_simulation --hours=5 --seed=1 --seeds=20 --at-once=2    one run for each seed, two at a time
//   bench_simulation --short                             some minutes of a few seeds, in less than a minute
//   bench_simulation --hours=2 --seed=7 --tell           all that happens
//
// It prints a line for each run, with a digest of all that happened, and the sum of several runs: the simulated hours,
// and the seeds that broke a promise, by which their runs happen again. It fails if there is one.
#include <sys/file.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <map>
#include <string_view>

#include "simulation/weather.hpp"

namespace {

using namespace simulation;

struct settings {
  std::uint64_t seed = 1, seeds = 1;
  unsigned at_once = 1;
  double hours = 1;
  bool tell = false, one = false, quick = false;
  std::string folder = "/dev/shm/pinion-simulation";
};

// What several runs add up to, or one has done.
struct sums {
  double hours = 0;
  std::int64_t faults = 0, steps = 0, lost = 0, unheard = 0;

  void add(const sums& one) {
    hours += one.hours, faults += one.faults, steps += one.steps, lost += one.lost, unheard += one.unheard;
  }
};
constexpr int to_parent = 9;  // the descriptor by which a run tells what it has done

// One run, in this process.
int run(const settings& s) {
  const draw how{s.seed};
  const time_point start = time_point() + std::chrono::hours(1);
  scheduler threads(s.seed, start, how.hurry);
  history tells(start);
  tells.told = s.tell;
  pn::set_log([&](const pn::log_line& line) { tells.tell(fmt::format("{} {}", line.task, line.text)); });
  ledger accounts(tells, how.workers);
  cluster c(how, tells, accounts, fmt::format("{}-{:06}", s.folder, s.seed));
  weather w(c);
  bool over = false;
  threads.on_stuck = [&] {
    for (const auto& line : tells.last()) fmt::print(stderr, "{}\n", line);
  };
  std::thread blows([&] {
    w.blow(s.hours);
    over = true;
  });
  threads.direct([&] { return over; }, {.run = [&](time_point now) { c.world.run_for(now - c.world.now()); },
                                        .next = [&] { return c.world.next_event().value_or(time_point::max()); },
                                        .skip = [&](time_point now) { c.world.skip_to(now); }});
  sums done{.hours = seconds(threads.now() - start) / 3600, .faults = w.faults()};
  for (const account& a : accounts.all()) done.steps += a.steps, done.lost += a.lost, done.unheard += a.unheard;
  const auto digest = tells.digest() ^ threads.switches();
  const bool broken = !tells.broken().empty();
  if (broken && !s.tell) {
    const auto& all = tells.last();
    for (std::size_t i = all.size() > 60 ? all.size() - 60 : 0; i < all.size(); ++i) fmt::print("{}\n", all[i]);
    for (const auto& promise : tells.broken()) fmt::print("{}\n", promise);
  }
  fmt::print(
      "seed {}: {}, {:.2f} h, {} faults, {} steps, {} lost, {} unheard, {} turns, {} names and {} files lost by "
      "disks, digest {:016x}: {}\n",
      s.seed, to_string(how.training), done.hours, done.faults, done.steps, done.lost, done.unheard, threads.switches(),
      c.disk.lost(), c.disk.torn(), digest, broken ? "BROKEN" : "well");
  std::fflush(stdout);
  c.disk.remove();
  static_cast<void>(::write(to_parent, &done, sizeof done) < 0);
  std::_Exit(broken ? 1 : 0);  // the simulated processes have ended, or are abandoned
}

// A run in a process of its own, in which addresses are the same each time, and all threads share a core.
struct apart {
  std::uint64_t seed;
  int told;  // what it writes to its parent
};
std::pair<pid_t, apart> begin_apart(const settings& s, const char* program) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], to_parent);
    if (ends[1] != to_parent) ::close(ends[1]);
    if (ends[0] != to_parent) ::close(ends[0]);
    // The disks have one path in each run, since paths are part of what happens. Another run of the seed goes first.
    const int lock = ::open(fmt::format("{}-{:06}.lock", s.folder, s.seed).c_str(), O_RDWR | O_CREAT, 0666);
    static_cast<void>(lock >= 0 && ::flock(lock, LOCK_EX) == 0);  // this process has it until it ends
    ::personality(ADDR_NO_RANDOMIZE);
    const std::string seed = fmt::format("--seed={}", s.seed), hours = fmt::format("--hours={}", s.hours);
    const std::string folder = "--folder=" + s.folder;
    ::execl("/proc/self/exe", program, "--one", seed.c_str(), hours.c_str(), folder.c_str(),
            s.tell ? "--tell" : nullptr, nullptr);
    std::_Exit(127);
  }
  ::close(ends[1]);
  return {child, {s.seed, ends[0]}};
}

// The runs that are under way, and what came of those that have ended.
struct runs {
  std::map<pid_t, apart> running;
  sums all;
  std::vector<std::uint64_t> broken;  // seeds

  void await_one() {
    int status = 0;
    const auto ended = running.extract(::waitpid(-1, &status, 0));
    if (!ended) return;
    const apart& one = ended.mapped();
    if (sums its; ::read(one.told, &its, sizeof its) == sizeof its) all.add(its);
    ::close(one.told);
    if (WIFSIGNALED(status)) fmt::print("seed {}: BROKEN, ended by signal {}\n", one.seed, WTERMSIG(status));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) broken.push_back(one.seed);
  }
  void tell(const settings& s) const {
    rusage used;
    ::getrusage(RUSAGE_CHILDREN, &used);
    fmt::print("{:.2f} simulated hours in {} s of processor time, {} faults, {} steps, {} lost, {} unheard: {}\n",
               all.hours, used.ru_utime.tv_sec + used.ru_stime.tv_sec, all.faults, all.steps, all.lost, all.unheard,
               broken.empty() ? "well" : "BROKEN");
    for (const auto seed : broken)
      fmt::print("again, with all that happens: --seed={} --hours={} --tell\n", seed, s.hours);
  }
};

void share_a_core(std::uint64_t number) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(number % static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN)), &one);
  sched_setaffinity(0, sizeof one, &one);
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  const auto given = [&](std::string_view name) -> std::optional<std::string> {
    for (const std::string_view w : words)
      if (w.starts_with(name) && (w.size() == name.size() || w[name.size()] == '='))
        return std::string(w.substr(std::min(w.size(), name.size() + 1)));
    return std::nullopt;
  };
  if (const auto v = given("--seed")) s.seed = std::stoull(*v);
  if (const auto v = given("--seeds")) s.seeds = std::stoull(*v);
  if (const auto v = given("--at-once")) s.at_once = static_cast<unsigned>(std::stoul(*v));
  if (const auto v = given("--hours")) s.hours = std::stod(*v);
  if (const auto v = given("--folder")) s.folder = *v;
  s.tell = given("--tell").has_value();
  s.quick = given("--short").has_value();
  s.one = given("--one").has_value();
  if (s.one) {
    share_a_core(s.seed);
    return run(s);
  }
  if (s.quick) s.seeds = 8, s.hours = .2;
  runs of;
  for (const auto end = s.seed + s.seeds; s.seed < end || !of.running.empty();) {
    if (s.seed < end && of.running.size() < std::max(1u, s.at_once)) {
      of.running.insert(begin_apart(s, argv[0]));
      ++s.seed;
    } else {
      of.await_one();
    }
  }
  if (s.seeds > 1) of.tell(s);
  return of.broken.empty() ? 0 : 1;
}
