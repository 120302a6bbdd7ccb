// The types that an attribute may hold: for those who ask which one it is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include <pinion/graph/attribute.hpp>

namespace pinion::inline v0 {

struct attribute::alternatives {
  using variant = std::variant<bool, std::int64_t, double, std::string, dtype, shape, integers, any_tensor,
                               std::shared_ptr<const scalar::program>, std::shared_ptr<const body>>;
  variant value;
};

using attribute_variant = attribute::alternatives::variant;

template <class T>
const T* attribute::get_if() const {
  return std::get_if<T>(&held_->value);
}

}  // namespace pinion::inline v0
