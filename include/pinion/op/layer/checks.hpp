// Checks of the operands of products in layers, by their kernels, since the extents may have been unknown before.
#pragma once

#include <cstdint>
#include <string>

#include <pinion/base/error.hpp>
#include <pinion/tensor/shape.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// Throws invalid_argument where a bias has another number of elements than a product has columns.
inline void expect_bias(const shape& bias, std::int64_t columns) {
  if (bias.rank() != 1 || bias[0] != columns)
    throw error(errc::invalid_argument,
                "a bias of shape " + to_string(bias) + " for a product of " + std::to_string(columns) + " columns");
}

// Throws invalid_argument where the values of a relu, whose gradient a product is to become, are of another shape.
inline void expect_relu(const shape& relu, std::int64_t rows, std::int64_t columns) {
  const shape product{rows, columns};
  if (relu != product)
    throw error(errc::invalid_argument,
                "a product of shape " + to_string(product) + " beside a relu of shape " + to_string(relu));
}

}}}}  // namespace pinion::v0::op::detail
