// variables_on, the placement policy that sends variables to one device and leaves the rest alone.
#pragma once

#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/graph/node.hpp>

namespace pinion { inline namespace v0 {

// A placement policy without state. Fields that inner guards set win over those of its device. The constructor throws
// invalid_argument on a bad device string. It is about the nodes of variables; initialisers, reads and updates follow
// these, since they work on their state.
//
//   const pn::device on{pn::variables_on{"/cpu:0"}};
class variables_on {
 public:
  static constexpr std::string_view name = "variables_on";

  // The error names the line of the call.
  explicit variables_on(std::string_view device, source_location where = source_location::current())
      : device_(parse_device(device, where)) {}
  explicit variables_on(const device_spec& device) : device_(device) {}

  device_spec operator()(const node_view& op) const;

 private:
  device_spec device_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/policy/variables_on.ipp>
#endif
