// What nodes say of a queue, and the components of its elements: a dtype and a shape for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/graph/attribute.hpp>
#include <pinion/graph/node.hpp>

namespace pinion { inline namespace v0 { namespace state {

// The dtypes and shapes of a queue's components. Components of unknown shape cannot be stacked to batches. A value.
struct queue_components {
  std::vector<dtype> types;
  std::vector<shape> shapes;

  std::size_t size() const { return types.size(); }
  bool known() const;
  friend bool operator==(const queue_components&, const queue_components&) = default;
};

// What a node says of a queue. A value.
struct queue_description {
  std::string kind;       // such as "FIFOQueue"
  std::int64_t capacity;  // -1: without limit
  std::int64_t least;     // min_after_dequeue of a shuffle queue; 0 for other kinds
  queue_components components;

  bool has_room_beside(std::size_t elements) const {
    return capacity < 0 || elements < static_cast<std::size_t>(capacity);
  }
  friend bool operator==(const queue_description&, const queue_description&) = default;
};

queue_description describe_queue(const node& n);

// The components as text: "float [784], int32 []".
std::string to_string(const queue_components& all);

// Writes the components as attributes "dtype0", "shape0", "dtype1", ...
void set_components(attributes& attrs, const queue_components& all);
// Reads them up to the first that lacks its dtype or its shape.
queue_components components_of(const attributes& attrs);

}}}  // namespace pinion::v0::state

#if PINION_HEADER_ONLY
#include <pinion/state/queue_components.ipp>
#endif
