// The world of a simulated network: time, chance, what will happen, who is where, and the log of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include <pinion/rpc/sim/options.hpp>

namespace pinion::inline v0::rpc::sim {

// One incarnation of a host.
struct host {
  std::string name;
  bool frozen = false, dead = false;
  std::vector<std::function<void()>> late = {};  // what resumes its coroutines at thaw()
};

struct handlers : asio::io_context {
  void end() { shutdown(); }
};

using event = std::optional<std::pair<time_point, std::uint64_t>>;  // when, and a number that breaks ties

struct connection;
struct attempt;
struct door;

// Time, chance, what will happen and who is where. Outlives all that refers to it.
struct world {
  explicit world(const sim_options& how) : options(how), chance(how.seed) {}

  // SplitMix64: the same numbers with every standard library.
  std::uint64_t below(std::uint64_t bound) {
    std::uint64_t z = chance += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % bound;
  }
  duration latency() {
    const auto range = static_cast<std::uint64_t>((options.max_latency - options.min_latency).count());
    return options.min_latency + duration(below(range + 1));
  }
  bool is_cut(const std::string& from, const std::string& to) const { return cuts.count({from, to}) > 0; }

  event at(time_point when, std::function<void()> what) {
    if (ended || when == time_point::max()) return {};
    return events.emplace(std::pair(std::max(when, now), ++numbered), std::move(what)).first->first;
  }
  void drop(event& event) {
    if (event) events.erase(*event);
    event.reset();
  }
  std::uint64_t sleep(std::function<void()> resume) {
    asleep.emplace(++numbered, std::move(resume));
    return numbered;
  }
  void wake(std::uint64_t sleeper, host& host) {
    auto found = asleep.extract(sleeper);
    if (found && host.frozen) host.late.push_back(std::move(found.mapped()));
    if (found && !host.frozen) asio::post(context, std::move(found.mapped()));
  }
  void wake_late(host& host) {
    host.frozen = false;
    for (auto& resume : std::exchange(host.late, {})) asio::post(context, std::move(resume));
  }

  enum class ending { done, idle, late };
  ending pump(const std::function<bool()>& done, std::optional<time_point> deadline) {
    if (std::exchange(pumping, true))
      throw error(errc::internal, "what the simulated network runs must not wait for the simulated network");
    const std::unique_ptr<bool, void (*)(bool*)> leave(&pumping, [](bool* flag) { *flag = false; });
    while (true) {
      context.restart();
      while (!done() && context.poll_one() > 0) continue;
      if (done()) return ending::done;
      if (events.empty()) return ending::idle;
      const time_point when = events.begin()->first.first;
      if (deadline && *deadline < when) {
        now = std::max(now, *deadline);
        return ending::late;
      }
      now = std::max(now, when);
      events.extract(events.begin()).mapped()();
    }
  }

  // All handlers lie in the world, so that every suspended coroutine is destroyed here, while what its destructors call
  // is still there.
  void end() {
    ended = true;
    const auto never = std::exchange(events, {});
    const auto closing = std::exchange(listeners, {});
    for (const auto& named : hosts) named.second->late.clear();
    asleep.clear();  // posts the destruction of the coroutines
    context.end();
  }

  template <class... Parts>
  void note(const Parts&... parts) {
    if (!options.keep_log) return;
    log.push_back(std::to_string((now - start).count()) + " ");
    (log.back().append(parts), ...);
  }

  // Those still there, in the order in which they were made.
  template <class T>
  static std::vector<std::shared_ptr<T>> alive(const std::vector<std::weak_ptr<T>>& all) {
    std::vector<std::shared_ptr<T>> result;
    for (const auto& each : all)
      if (auto held = each.lock()) result.push_back(std::move(held));
    return result;
  }
  template <class T>
  static void add(std::vector<std::weak_ptr<T>>& all, const std::shared_ptr<T>& made) {
    std::erase_if(all, [](const auto& each) { return each.expired(); });
    all.push_back(made);
  }

  const sim_options options;
  handlers context;
  const time_point start = time_point() + std::chrono::hours(1);
  time_point now = start;
  std::uint64_t chance, numbered = 0, connected = 0;
  bool ended = false, pumping = false;
  unsigned next_port = 49152;
  std::map<std::pair<time_point, std::uint64_t>, std::function<void()>> events;
  std::map<std::uint64_t, std::function<void()>> asleep;
  std::map<std::string, std::shared_ptr<host>> hosts;
  std::map<std::string, std::shared_ptr<door>> listeners;  // by address
  std::set<std::pair<std::string, std::string>> cuts;      // from, to
  std::vector<std::weak_ptr<connection>> connections;
  std::vector<std::weak_ptr<attempt>> attempts;
  std::vector<std::string> log;
};

using world_ptr = std::shared_ptr<world>;
using host_ptr = std::shared_ptr<host>;

}  // namespace pinion::inline v0::rpc::sim
