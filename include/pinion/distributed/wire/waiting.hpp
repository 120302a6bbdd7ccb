// Blocks a thread until another task has answered.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/rpc/typed.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

using deadline = std::optional<time_point>;  // when a wait ends; none: no limit

// The limits of a call that may have to wait for tasks to come up before it works; none: no limit.
struct call_limits {
  std::optional<rpc::duration> startup = {};    // of the wait
  std::optional<rpc::duration> operation = {};  // of the work, from when the tasks are there
};
// The deadline after so long a time.
deadline after(const rpc::network& net, const std::optional<rpc::duration>& time);
// The deadline of a call that first waits for tasks.
deadline after_both(const rpc::network& net, const call_limits& limits);
// The form of a limit in messages: milliseconds, 0 if there is none.
std::uint64_t to_ms(const std::optional<rpc::duration>& limit);
std::optional<rpc::duration> from_ms(std::uint64_t ms);

// The text, deadline and early end of a wait.
struct wait_options {
  std::function<std::string()> what;               // who is waited for, as messages show it; asked each time
  deadline until{};                                // after it the wait throws deadline_exceeded
  std::function<void()> check = [] {};             // called every 100 ms; throws to end the wait
  std::string limit = {};                          // what sets `until`, such as "the session's operation_timeout"
  rpc::duration silent{std::chrono::seconds(10)};  // then it writes its first line
};
// The texts of limits.
inline constexpr const char *startup_limit = "the session's startup_timeout (else its operation_timeout)",
                            *operation_limit = "the session's operation_timeout";

// A wait under way.
class long_wait {
 public:
  // Refers to both.
  long_wait(rpc::network& net, const wait_options& how);
  // Ends the wait by an exception, or writes a line, if it is time to.
  void look();

 private:
  std::string for_whom() const;  // "3.1 s for /job:ps/replica:0/task:0 at ..."

  rpc::network& net_;
  const wait_options& how_;
  const time_point began_ = net_.now();
  time_point next_word_ = began_ + how_.silent;
};

// Calls `begin` with a completion handler, and blocks until the handler is called. Returns the value of the outcome or
// throws its error. A wait that takes long says so in the log, every ten seconds. Not for the network's thread.
// The handler may be called after the wait has ended.
template <class Result, class Begin>
Result wait_for(rpc::network& net, const wait_options& how, const Begin& begin) {
  struct box {
    countdown ready;
    std::mutex mutex;
    std::optional<outcome<Result>> result;
  };
  const auto shared = std::make_shared<box>();
  begin([shared](outcome<Result> result) {
    {
      std::lock_guard hold(shared->mutex);
      shared->result = std::move(result);
    }
    shared->ready.count_down();
  });
  long_wait waits(net, how);
  while (!net.wait(shared->ready, net.now() + std::chrono::milliseconds(100))) waits.look();
  std::lock_guard hold(shared->mutex);
  return std::move(*shared->result).value();
}

// A peer as messages show it: "/job:ps/replica:0/task:0 at 127.0.0.1:2221 (running, last heard 0.2 s ago)".
std::string title_and_view(const rpc::channel& route);

// Connects a channel, or waits until it is up.
void connect_and_wait(rpc::network& net, const std::shared_ptr<rpc::channel>& route, wait_options how);

// Connects with a task that should be running. Throws unavailable if it does not answer within `soon`.
void reach(rpc::network& net, const std::shared_ptr<rpc::channel>& route, rpc::duration soon,
           std::string_view task = {}, wait_options how = {});

template <class Reply, class Request>
Reply ask_and_wait(rpc::network& net, const std::shared_ptr<rpc::channel>& route, const Request& request,
                   wait_options how = {}, rpc::lane by = rpc::lane::data) {
  how.what = [route] { return "an answer of " + title_and_view(*route); };
  using answer = rpc::reply_to_read<Reply>;  // decoded in this thread, not in the network's
  return wait_for<answer>(net, how, [&](auto done) { rpc::call_at_leisure<Reply>(*route, by, request, done); }).take();
}

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/waiting.ipp>
#endif
