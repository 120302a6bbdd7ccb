// The lines of a server's log that say who was refused, and why.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/rpc/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Tells of refused clients, in the log of the process unless another sink is given; at most `most` of them in each
// `period`, then how many more there were. Used by the network's thread only.
class refusals {
 public:
  using sink = std::function<void(const std::string& text)>;  // "refused 10.0.0.9:5123: ..."
  static constexpr std::uint64_t most = 10;
  static constexpr auto period = std::chrono::seconds(10);

  // `task` is the name of the server's task.
  explicit refusals(std::string task, sink to = {});
  void add(const std::string& peer, const error& why, time_point now);
  // Tells of the rest, if the period is over. Called now and then.
  void tell_rest(time_point now);

 private:
  void tell(const std::string& text);

  const std::string task_;
  const sink sink_;
  time_point began_{};
  std::uint64_t told_ = 0, untold_ = 0;
  std::string last_;  // peer and sentence of the last that was not told
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/refusals.ipp>
#endif
