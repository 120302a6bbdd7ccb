// The precision of products of floats on GPUs.
#pragma once

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// The numbers to which NVIDIA's libraries may round the factors of a product of floats; the products are added up as
// floats in any case. TensorFloat-32 keeps 10 of 23 bits of a fraction, and bfloat16 keeps 7; both keep the range of
// float. PyTorch calls them "highest", "high" and "medium" (torch.set_float32_matmul_precision).
enum class product_precision { full, tensor_float_32, bfloat16 };

}}  // namespace pinion::v0
