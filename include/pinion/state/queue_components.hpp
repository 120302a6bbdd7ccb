// The components of a queue's elements: a dtype and a shape for each.
#pragma once

#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/graph/attribute.hpp>

namespace pinion { inline namespace v0 { namespace state {

// The dtypes and shapes of a queue's components. Components of unknown shape cannot be stacked to batches. A value.
struct queue_components {
  std::vector<dtype> types;
  std::vector<shape> shapes;

  std::size_t size() const { return types.size(); }
  bool known() const;
  friend bool operator==(const queue_components&, const queue_components&) = default;
};

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
