// What the elements of a queue are made of: a dtype and a shape for each component.
#pragma once

#include <string>
#include <vector>

#include <pinion/graph/node.hpp>

namespace pinion::inline v0::op {

// The dtypes and shapes of a queue's components. A shape may be unknown: then such components are not put together to
// batches.
struct queue_components {
  std::vector<dtype> types;
  std::vector<shape> shapes;

  std::size_t size() const { return types.size(); }
  bool known() const {
    for (const shape& s : shapes)
      if (!s.known()) return false;
    return true;
  }
  friend bool operator==(const queue_components&, const queue_components&) = default;
};

// "float [784], int32 []".
inline std::string to_string(const queue_components& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i)
    text += (i ? ", " : "") + std::string(to_string(all.types[i])) + " " + to_string(all.shapes[i]);
  return text;
}

// As attributes "dtype0", "shape0", "dtype1", ...
inline void set_components(attributes& attrs, const queue_components& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    attrs.set("dtype" + std::to_string(i), all.types[i]);
    attrs.set("shape" + std::to_string(i), all.shapes[i]);
  }
}
inline queue_components components_of(const attributes& attrs) {
  queue_components all;
  for (std::size_t i = 0; attrs.has("dtype" + std::to_string(i)); ++i) {
    all.types.push_back(attrs.get<dtype>("dtype" + std::to_string(i)));
    all.shapes.push_back(attrs.get<shape>("shape" + std::to_string(i)));
  }
  return all;
}

}  // namespace pinion::inline v0::op
