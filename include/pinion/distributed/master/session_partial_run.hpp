// A run of a step that is fed and fetched in several calls, seen from its master.
//
// Invariants (numbers of protocol.md in brackets)
//   1. Each feed is fed at most once, and each fetch and target asked for at most once. [R8]
//   2. A call is answered once: when all that it asks for is there, or with the failure of the run, when that has
//      ended.
//   3. What came and was not yet asked for is kept here, since the run may end between two calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/master/master_services.hpp>
#include <pinion/distributed/master/session_run.hpp>
#include <pinion/distributed/master/session_step.hpp>
#include <pinion/distributed/wire/waiting.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// One call: the ends that it names, by their numbers in the signature of the step, and the values that it feeds.
struct partial_call {
  std::vector<std::uint64_t> feeds = {};
  std::vector<any_tensor> values = {};
  std::vector<std::uint64_t> fetches = {}, targets = {};
};

// A partial run. Shared by its session, by its run and by calls whose answers are pending. Thread-safe.
class session_partial_run : public std::enable_shared_from_this<session_partial_run> {
 public:
  using share = std::shared_ptr<void>;  // keeps something counted that a client asked for
  using taken = completion<std::vector<any_tensor>>;

  // `counted` is kept as long as this is, and so is what holds the bytes of its feeds.
  session_partial_run(master_services& services, std::shared_ptr<const session_step> what, run_id id, share counted);

  // Begins the run; its end comes to ended().
  void begin(std::shared_ptr<session_run> run);
  void ended(const run_result& how);

  // Throws invalid_argument if no call feeds so many bytes.
  void expect_feeds(std::uint64_t bytes) const;
  // Begins a call; `done` gets the values of its fetches, in any thread. Throws invalid_argument, and takes nothing,
  // for an end that is not there or was named before, and for a value that does not fit.
  void take(partial_call t, deadline until, share held, taken done);
  void fail(const error& why);

 private:
  // A call that waits.
  struct waiting_call {
    std::vector<std::uint64_t> fetches, targets;
    taken done;
    share held;
    std::optional<deadlines::entry> deadline = {};
  };
  using waiting_ref = std::list<waiting_call>::iterator;
  // A call that is over, to be answered without the lock.
  struct answer {
    taken done;
    outcome<std::vector<any_tensor>> how;
  };

  // Requires, for these: the lock is held.
  void use(const partial_call& t);
  bool is_there(const waiting_call& t) const;
  answer end(waiting_ref at, outcome<std::vector<any_tensor>> how);
  std::vector<any_tensor> values_of(const waiting_call& t);

  void await_ends();
  std::shared_ptr<session_run> run() const;  // null once it has ended
  void fail_late();
  void came(std::vector<std::optional<any_tensor>>& ends, std::size_t number, any_tensor value);
  void feed(const partial_call& t);

  master_services& s_;
  const std::shared_ptr<const session_step> step_;
  const run_id id_;
  const share counted_;
  const std::shared_ptr<remote_rendezvous> meet_;

  mutable std::mutex mutex_;
  std::shared_ptr<session_run> run_;
  shared_error failure_;
  std::vector<bool> fed_, fetched_, run_targets_;             // which of them were named
  std::vector<std::optional<any_tensor>> fetches_, targets_;  // what has come; of a target an empty value
  std::list<waiting_call> waiting_;
  std::vector<share> held_;  // of calls with feeds
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/master/session_partial_run.ipp>
#endif
