// The tasks of a cluster as one session knows them: their devices, and in which life it met them.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/master/master_services.hpp>
#include <pinion/distributed/wire/waiting.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Owned by a session. Thread-safe. What waits blocks the calling thread; `check` throws when there is no use in waiting
// any more.
class known_tasks {
 public:
  known_tasks(master_services& services, std::vector<std::string> filters, std::function<void()> check)
      : s_(services), filters_(std::move(filters)), check_(std::move(check)) {}

  // Those that the session's device filters let through, and its own.
  std::vector<std::string> all() const;
  std::vector<std::string> met() const;
  std::vector<device_info> devices() const;
  std::uint64_t incarnation_of(const std::string& task) const;

  // Those that the requests of some nodes speak of; this one where a request speaks of none.
  std::vector<std::string> asked_for(const graph& g, const std::vector<node_id>& nodes) const;

  // Waits until the devices of some tasks are known.
  void learn(const std::vector<std::string>& tasks, patience until);

  // Connects again with a task that was known: when it does not come back at once it is lost, and in another life it
  // has forgotten everything. Returns the generation of the way.
  std::uint64_t meet_again(const std::string& task);

  template <class Reply, class Request>
  Reply ask(const std::string& task, const Request& request, patience until) {
    return ask_and_wait<Reply>(s_.net, s_.peers.way_to(task), request, waits(until));
  }
  wait_options waits(patience until) const;

 private:
  struct info {
    std::uint64_t incarnation = 0;
    std::vector<device_info> devices;
  };

  static device_spec task_part(const device_spec& s);
  bool passes_filters(const std::string& task) const;
  bool knows(const std::string& task) const;

  master_services& s_;
  const std::vector<std::string> filters_;
  const std::function<void()> check_;
  mutable std::mutex mutex_;
  std::map<std::string, info> known_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/master/known_tasks.ipp>
#endif
