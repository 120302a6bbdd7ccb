// What a placer must know of ops. The library's own come from its catalogue; a planning tool may declare others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/opkit/work_context.hpp>

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
};

// Answers for nodes by their op and attributes. Facts stay where they are while the answerer lives, and nodes of the
// same facts get the same object. Thread-safe.
class op_knowledge {
 public:
  virtual ~op_knowledge() = default;
  // Throws not_found for an op that it does not know.
  virtual const op_facts& facts(const node& n) const = 0;
  // Why a node has no kernel on a device type, and where it has one.
  virtual std::string missing(const node& n, std::string_view device_type) const;
  // Operations that a node takes: one for each element it yields, unless more is known.
  virtual double work(const node&, const work_context& sizes) const { return sizes.elements(); }
};

// The ops of op/catalogue.hpp, and those that the program registered.
const op_knowledge& library_ops();

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/op_knowledge.ipp>
#endif
