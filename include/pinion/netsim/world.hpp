// The state of a simulated network: time, random numbers, pending events, hosts and the log.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/netsim/options.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

// One incarnation of a simulated host.
struct host {
  std::string name;
  bool frozen = false, dead = false;
  std::vector<std::function<void()>> late = {};  // functions that resume its coroutines at thaw()
};

struct handlers : asio::io_context {
  void end() { shutdown(); }
};

using event = std::optional<std::pair<time_point, std::uint64_t>>;  // time, and a number that breaks ties

struct connection;
struct attempt;
struct listening;

// The shared state of all hosts of a simulation. It outlives every object that refers to it. Used by one thread.
struct world {
  explicit world(const sim_options& how) : options(how), chance(how.seed) {}

  // Returns a random number below `bound`, by SplitMix64, which gives equal numbers with every standard library.
  std::uint64_t below(std::uint64_t bound);
  duration latency();
  bool is_cut(const std::string& from, const std::string& to) const { return cuts.count({from, to}) > 0; }

  event at(time_point when, std::function<void()> what);
  void drop(event& event);
  std::uint64_t sleep(std::function<void()> resume);
  void wake(std::uint64_t sleeper, host& host);
  void wake_late(host& host);
  void post(std::function<void()> what);

  enum class ending { done, idle, late };
  ending pump(const std::function<bool()>& done, std::optional<time_point> deadline);

  // Destroys every suspended coroutine. All their handlers are in the world, which is still complete when their
  // destructors run.
  void end();

  template <class... Parts>
  void note(const Parts&... parts) {
    if (!options.keep_log) return;
    log.push_back(std::to_string((now - start).count()) + " ");
    (log.back().append(parts), ...);
  }

  // Returns the objects that still exist, in the order in which they were made.
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
  bool ready = false;  // the context may have something to run
  unsigned next_port = 49152;
  std::map<std::pair<time_point, std::uint64_t>, std::function<void()>> events;
  std::map<std::uint64_t, std::function<void()>> asleep;
  std::map<std::string, std::shared_ptr<host>> hosts;
  std::map<std::string, std::shared_ptr<listening>> listeners;  // by address
  std::set<std::pair<std::string, std::string>> cuts;           // from, to
  std::vector<std::weak_ptr<connection>> connections;
  std::vector<std::weak_ptr<attempt>> attempts;
  std::vector<std::string> log;
};

using world_ptr = std::shared_ptr<world>;
using host_ptr = std::shared_ptr<host>;

}}}  // namespace pinion::v0::netsim

#if PINION_HEADER_ONLY
#include <pinion/netsim/world.ipp>
#endif
