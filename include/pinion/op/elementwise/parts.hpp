// The nodes that a step's optimization joined to an elementwise node, as far as errors are to name them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pinion/graph/node.hpp>
#include <pinion/op/elementwise/layout.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The parts of a joined node whose inputs may fail to broadcast, in the order in which their nodes ran. Each is a range
// of the inputs of the joined node. Attribute "parts" has the ranges, "part_names" the names, ops and lines of the
// nodes. A value.
class map_parts {
 public:
  // The parts of a node with so many inputs. Throws invalid_argument where the attributes are not those of parts of it:
  // they may come from another process.
  static map_parts of(const attributes& attrs, std::size_t inputs) {
    map_parts all;
    if (!attrs.has("parts") && !attrs.has("part_names")) return all;
    check(attrs, static_cast<std::int64_t>(inputs));
    const auto& ranges = attrs.get<integers>("parts");
    const std::string* names = attrs.get<any_tensor>("part_names").data<std::string>();
    for (std::size_t i = 0; i < ranges.size(); i += 2, names += 3)
      all.parts_.push_back({ranges[i], ranges[i + 1], names[0], names[1], names[2]});
    return all;
  }
  void write(attributes& attrs) const {
    if (none()) return;
    integers ranges;
    any_tensor names(dtype::string, {static_cast<std::int64_t>(parts_.size()), 3});
    std::string* at = names.data<std::string>();
    for (const part& p : parts_) {
      ranges.insert(ranges.end(), {p.first, p.inputs});
      for (const std::string* const name : {&p.node, &p.op, &p.location}) *at++ = *name;
    }
    attrs.set("parts", std::move(ranges));
    attrs.set("part_names", std::move(names));
  }
  bool none() const { return parts_.empty(); }

  // Puts a node with its own parts in place of input `at`. `may_fail`: its inputs may fail to broadcast.
  void insert(const node& joined, std::size_t at, bool may_fail) {
    const auto place = static_cast<std::int64_t>(at), inputs = static_cast<std::int64_t>(joined.inputs.size());
    for (part& p : parts_)
      if (p.first > place)
        p.first += inputs - 1;
      else if (place < p.first + p.inputs)
        p.inputs += inputs - 1;
    map_parts inner = of(joined.attrs, joined.inputs.size());
    for (part& p : inner.parts_) p.first += place;
    if (may_fail) inner.parts_.push_back({place, inputs, joined.name, joined.op, to_string(joined.where)});
    parts_.insert(parts_.begin(), inner.parts_.begin(), inner.parts_.end());
  }

  // Throws the error of the first part whose inputs do not broadcast.
  void check(std::span<const shape> inputs) const {
    for (const part& p : parts_) try {
        map_layout::space_of(inputs.subspan(static_cast<std::size_t>(p.first), static_cast<std::size_t>(p.inputs)));
      } catch (error& e) {
        throw e.at_node(p.node, p.op, p.location);
      }
  }

  // The layout of a joined node that stores its result. Throws what check() throws.
  map_layout layout(std::vector<shape> inputs, const scalar::program& p) const {
    check(inputs);
    const shape space = map_layout::space_of(inputs);
    return {std::move(inputs), space, {space}, p};
  }

 private:
  static void check(const attributes& attrs, std::int64_t inputs) {
    const auto expect = [](bool holds, const char* otherwise) {
      if (!holds) throw error(errc::invalid_argument, otherwise);
    };
    expect(attrs.has("parts") && attrs.has("part_names"), "the parts of a joined node have ranges and names");
    const auto& ranges = attrs.get<integers>("parts");
    const auto& names = attrs.get<any_tensor>("part_names");
    const auto parts = static_cast<std::int64_t>(ranges.size() / 2);
    expect(ranges.size() % 2 == 0 && names.dtype() == dtype::string && names.shape() == shape{parts, 3},
           "each part of a joined node has a range of inputs, and a name, an op and a line");
    for (std::size_t i = 0; i < ranges.size(); i += 2)
      expect(ranges[i] >= 0 && ranges[i + 1] >= 0 && ranges[i] <= inputs && ranges[i + 1] <= inputs - ranges[i],
             "a part of a joined node has inputs that the node has not");
  }

  struct part {
    std::int64_t first, inputs;
    std::string node, op, location;
  };
  std::vector<part> parts_;
};

}}}  // namespace pinion::v0::op
