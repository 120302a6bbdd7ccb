// The callers that wait until a channel is up.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Each is told once how its wait has ended, all of them whatever one throws. Owned by a channel. In the network's
// thread.
class waiting_callers {
 public:
  // `until`: the caller's deadline, if it has one.
  void add(time_point now, std::optional<time_point> until, completion<> done);
  bool empty() const { return all_.empty(); }
  // The earliest deadline; time_point::max() where nobody has one.
  time_point first_deadline() const;
  // Tells all of them.
  void end(const outcome<>& how);
  // Fails those whose deadlines have come with deadline_exceeded: "waited 3.1 s for " and what `whom` says.
  void fail_late(time_point now, const std::function<std::string()>& whom);

 private:
  struct caller {
    time_point since;
    std::optional<time_point> until;
    completion<> done;
  };
  std::vector<caller> all_;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/waiting_callers.ipp>
#endif
