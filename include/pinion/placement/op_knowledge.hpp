// The knowledge of ops that placers use: which kernels they have, and what they cost. The library's own ops answer from
// its catalogue; a planning tool may declare others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/opkit/work_context.hpp>
#include <pinion/placement/device_info.hpp>

namespace pinion { inline namespace v0 {

// A device type on which an op has a kernel. Kernels of a higher priority are taken first, whatever the type.
struct kernel_on {
  std::string device_type;
  int priority = 0;
};

struct op_facts {
  std::vector<kernel_on> kernels = {};
  bool metadata = false;        // tells of its first input without reading it (Shape, Size, Rank): stays near it
  bool stateful = false;        // may not move once it was placed
  std::uint32_t handles = ~0u;  // bit i: where input i is a reference or resource, the op works on what it stands for

  bool has_kernel(std::string_view device_type) const;
  // The device may lack the op although its type has a kernel.
  bool has_kernel(std::string_view op, const device_info& on) const;
};

// Answers for nodes by their op and attributes. Facts keep their address while the object lives, and nodes of equal
// facts get one address. Thread-safe.
class op_knowledge {
 public:
  virtual ~op_knowledge() = default;
  // Throws not_found for an op that it does not know.
  virtual const op_facts& facts(const node& n) const = 0;
  // A sentence: the node has no kernel on a device type, and where it has one.
  virtual std::string missing(const node& n, std::string_view device_type) const;
  // Operations that a node takes: one for each element it yields, unless more is known.
  virtual double work(const node&, const work_context& sizes) const { return sizes.elements(); }

  // A sentence, as missing(), of a device that has no kernel for the node.
  std::string missing_on(const node& n, const device_info& device) const;
};

// The ops of op/catalogue.hpp, and those that the program registered.
const op_knowledge& library_ops();

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/op_knowledge.ipp>
#endif
