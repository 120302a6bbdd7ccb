// The types that an attribute may hold, for code that asks which one it is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <pinion/base/dtype.hpp>
#include <pinion/scalar/program.hpp>
#include <pinion/tensor/shape.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 {

struct body;

using attribute_variant = std::variant<bool, std::int64_t, double, std::string, dtype, shape, std::vector<std::int64_t>,
                                       any_tensor, std::shared_ptr<const scalar::program>, std::shared_ptr<const body>>;

// The variant behind an attribute. It is a type of its own so that attribute.hpp can declare it without the variant.
struct attribute_value {
  attribute_variant held;
};

}}  // namespace pinion::v0
