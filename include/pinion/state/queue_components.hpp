// What the elements of a queue are made of: a dtype and a shape for each component.
#pragma once

#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/graph/attribute.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The dtypes and shapes of a queue's components. A shape may be unknown: then such components are not put together to
// batches.
struct queue_components {
  std::vector<dtype> types;
  std::vector<shape> shapes;

  std::size_t size() const { return types.size(); }
  bool known() const;
  friend bool operator==(const queue_components&, const queue_components&) = default;
};

// "float [784], int32 []".
std::string to_string(const queue_components& all);

// As attributes "dtype0", "shape0", "dtype1", ...
void set_components(attributes& attrs, const queue_components& all);
queue_components components_of(const attributes& attrs);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/state/queue_components.ipp>
#endif
