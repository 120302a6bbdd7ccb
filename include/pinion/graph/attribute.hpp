// What a node carries beside its inputs: named values fixed when it is made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/scalar/program.hpp>
#include <pinion/tensor/shape.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion::inline v0 {

struct body;

using integers = std::vector<std::int64_t>;
using attribute = std::variant<bool, std::int64_t, double, std::string, dtype, shape, integers, any_tensor,
                               std::shared_ptr<const scalar::program>, std::shared_ptr<const body>>;

// A small map from names to values, sorted by name. A value.
class attributes {
 public:
  attributes() = default;
  attributes(std::initializer_list<std::pair<std::string_view, attribute>> items);

  void set(std::string_view name, attribute value);
  const attribute* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }

  // The value of an attribute that the op's definition promises; a missing one is a fault of the library.
  template <class T>
  const T& get(std::string_view name) const {
    const attribute* a = find(name);
    const T* value = a ? std::get_if<T>(a) : nullptr;
    if (!value) throw error(errc::internal, "attribute '" + std::string(name) + "' is missing or of another type");
    return *value;
  }
  template <class T>
  T get_or(std::string_view name, T fallback) const {
    const attribute* a = find(name);
    const T* value = a ? std::get_if<T>(a) : nullptr;
    return value ? *value : fallback;
  }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  using list = std::vector<std::pair<std::string, attribute>>;
  list::iterator lower(std::string_view name);
  list items_;
};

}  // namespace pinion::inline v0

#if PINION_HEADER_ONLY
#include <pinion/graph/attribute.ipp>
#endif
