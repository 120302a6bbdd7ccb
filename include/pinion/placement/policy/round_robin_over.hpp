// round_robin_over, the placement policy that deals nodes out to devices in turn.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/node.hpp>

namespace pinion { inline namespace v0 {

// A placement policy with state: each node that has no device type yet goes to the next device of a list; a node that
// has one is not counted. Fields that inner guards set win over those of the list. For one thread at a time. The
// constructor throws invalid_argument on a bad device string and on an empty list. The count goes over all guards that
// refer to one object. It suits parts that cost alike, such as towers of one model:
//
//   pn::round_robin_over gpus{"/gpu:0", "/gpu:1"};
//   { const pn::device on{gpus}; auto a = pn::matmul(x, w); auto b = pn::matmul(x, v); }   // on GPU 0, on GPU 1
class round_robin_over {
 public:
  static constexpr std::string_view name = "round_robin_over";

  explicit round_robin_over(std::initializer_list<std::string_view> devices);
  explicit round_robin_over(std::vector<device_spec> devices) : devices_(std::move(devices)) { expect_some(); }

  device_spec operator()(const node_view& op);

 private:
  void expect_some() const;
  std::vector<device_spec> devices_;
  std::size_t next_ = 0;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/policy/round_robin_over.ipp>
#endif
