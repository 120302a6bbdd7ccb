// What a node carries beside its inputs: named values fixed when it is made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

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
  attributes(std::initializer_list<std::pair<std::string_view, attribute>> items) {
    for (auto& [name, value] : items) set(name, value);
  }

  void set(std::string_view name, attribute value) {
    const auto at = lower(name);
    if (at != items_.end() && at->first == name)
      at->second = std::move(value);
    else
      items_.emplace(at, std::string(name), std::move(value));
  }
  const attribute* find(std::string_view name) const {
    const auto at = const_cast<attributes*>(this)->lower(name);
    return at != items_.end() && at->first == name ? &at->second : nullptr;
  }
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
  list::iterator lower(std::string_view name) {
    return std::lower_bound(items_.begin(), items_.end(), name,
                            [](const auto& item, auto n) { return item.first < n; });
  }
  list items_;
};

}  // namespace pinion::inline v0
