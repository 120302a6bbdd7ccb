// The tasks of a cluster that one session knows: their devices, and the incarnation in which it met each.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/master/master_services.hpp>
#include <pinion/distributed/wire/waiting.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The tasks that one session has met. Owned by the session. Thread-safe. Functions that wait block the calling thread;
// `check` throws when the wait is of no use any more.
class known_tasks {
 public:
  known_tasks(master_services& services, std::vector<std::string> filters, std::function<void()> check)
      : s_(services), filters_(std::move(filters)), check_(std::move(check)) {}

  // Returns the tasks that the session's device filters let through, and its own task.
  std::vector<std::string> all() const;
  std::vector<std::string> met() const;
  std::vector<device_info> devices() const;
  // Devices of known tasks, with the libraries that their GPUs are known to have.
  std::vector<device_info> with_libraries(std::vector<device_info> devices) const;
  std::uint64_t incarnation_of(const std::string& task) const;

  // Returns the tasks that the device requests of the nodes name; this task for nodes without a task in their request.
  std::vector<std::string> asked_for(graph_view g, const std::vector<node_id>& nodes) const;

  // Waits until the tasks are there and their devices known. The error of a wait that is too long names all that are
  // missing, each with what was last tried.
  void learn(const std::vector<std::string>& tasks, deadline until);
  // Waits until the libraries of the GPUs of all known tasks are known, which they open.
  void learn_libraries(deadline until);

  // Connects again with a known task. Throws unavailable if it does not answer soon, aborted if it was restarted and so
  // has lost its state. Returns the generation of the channel.
  std::uint64_t meet_again(const std::string& task);

  template <class Reply, class Request>
  Reply ask(const std::string& task, const Request& request, deadline until) {
    return ask_and_wait<Reply>(s_.net, s_.peers.route_to(task), request, waits(until, operation_limit));
  }
  wait_options waits(deadline until, const std::string& limit) const;

 private:
  struct info {
    std::uint64_t incarnation = 0;
    std::vector<device_info> devices;
    std::optional<std::vector<std::string>> libraries = {};  // of its GPUs; null: it was not asked
  };

  static device_spec task_part(const device_spec& s);
  bool passes_filters(const std::string& task) const;
  bool knows(const std::string& task) const;
  // Forgets tasks that have left the cluster, where they are many.
  void forget_gone();
  // Connects with all of them at once.
  void meet(const std::vector<std::string>& tasks, deadline until);
  std::string views_of_missing(const std::vector<std::string>& tasks) const;

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
