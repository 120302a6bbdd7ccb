// Blocks a thread until another task has answered.
#pragma once

#include <cstdio>
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

using patience = std::optional<time_point>;  // a deadline; none: no limit

// The text, deadline and early end of a wait.
struct wait_options {
  std::string what;                     // shown in messages: "waiting for /job:ps/replica:0/task:0 at 127.0.0.1:2221"
  patience until{};                     // after it the wait throws deadline_exceeded
  std::function<void()> check = [] {};  // called every 100 ms; throws to end the wait
};

// Calls `begin` with a completion handler, and blocks until the handler is called. Returns the value of the outcome or
// throws its error. After one second it writes how.what to standard error. Not for the network's thread. The handler
// may be called after the wait has ended.
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
  const auto began = net.now();
  bool said = false;
  while (!net.wait(shared->ready, net.now() + std::chrono::milliseconds(100))) {
    how.check();
    if (how.until && net.now() > *how.until)
      throw error(errc::deadline_exceeded, how.what + " took longer than the session's operation_timeout");
    if (net.now() - began > std::chrono::seconds(1) && !std::exchange(said, true))
      std::fprintf(stderr, "pinion: %s\n", how.what.c_str());
  }
  std::lock_guard hold(shared->mutex);
  return std::move(*shared->result).value();
}

// Connects a channel, or waits until it is up.
void connect_and_wait(rpc::network& net, const std::shared_ptr<rpc::channel>& way, wait_options how);

// Connects with a task that should be running. Throws unavailable if it does not answer within `soon`.
void reach(rpc::network& net, const std::shared_ptr<rpc::channel>& way, rpc::duration soon, std::string_view task = {},
           wait_options how = {});

template <class Reply, class Request>
Reply ask_and_wait(rpc::network& net, const std::shared_ptr<rpc::channel>& way, const Request& request,
                   wait_options how = {}, rpc::lane by = rpc::lane::data) {
  how.what = "waiting for an answer of " + way->title();
  using answer = rpc::reply_to_read<Reply>;  // decoded in this thread, not in the network's
  return wait_for<answer>(net, how, [&](auto done) { rpc::call_at_leisure<Reply>(*way, by, request, done); }).take();
}

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/waiting.ipp>
#endif
