// The lines of a server's log that say who was refused, and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/base/few_lines.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Tells of refused clients, in the log of the process unless another sink is given, a few of them: "refused
// 10.0.0.9:5123: ...". Used by the network's thread only.
class refusals {
 public:
  using sink = few_lines::sink;
  static constexpr std::size_t longest = 500;  // bytes of a reason
  static constexpr auto period = few_lines::period;

  // `task` is the name of the server's task.
  explicit refusals(std::string task, sink to = {});
  void add(const std::string& peer, const error& why, time_point now);
  // Tells of the rest, if the period is over. Called now and then.
  void tell_rest(time_point now) { lines_.tell_rest(now); }
  std::uint64_t untold() const { return lines_.untold(); }

 private:
  few_lines lines_;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/refusals.ipp>
#endif
