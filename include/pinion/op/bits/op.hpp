// The bits of integers: logic on them, shifts, and how many are 1.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The base of ops on integers, on hosts. int32 and int64 are two's complements.
struct on_bits {
  static constexpr dtype_set types = dtypes::integers;
  static constexpr attribute_list attrs{};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = types, .gpu = {}};
  static void gradient(gradient_context&) {}  // of integers: no gradient
};

// (x, y) of one dtype, which broadcast -> the logical function of their bits.
struct bitwise_and : on_bits {
  static constexpr std::string_view name = "BitwiseAnd";
  static constexpr input_count inputs = 2;
  static void infer(shape_context& c);
};
struct bitwise_or : bitwise_and {
  static constexpr std::string_view name = "BitwiseOr";
};
struct bitwise_xor : bitwise_and {
  static constexpr std::string_view name = "BitwiseXor";
};

// (x, count) of one dtype, which broadcast -> x with its bits moved by so many places, to the left or to the right. A
// count below 0 is 0, and one of more places than there are is one less than these. From the left come copies of the
// first bit of int32 and int64, and 0 otherwise.
struct left_shift : bitwise_and {
  static constexpr std::string_view name = "LeftShift";
};
struct right_shift : bitwise_and {
  static constexpr std::string_view name = "RightShift";
};

// x -> x with each bit the other way.
struct invert : on_bits {
  static constexpr std::string_view name = "Invert";
  static constexpr input_count inputs = 1;
  static void infer(shape_context& c);
};

// x -> how many of its bits are 1, uint8. Kernels are declared for uint8, the dtype of the output.
struct population_count : on_bits {
  static constexpr std::string_view name = "PopulationCount";
  static constexpr input_count inputs = 1;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::uint8}, .gpu = {}};
  static void infer(shape_context& c);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/bits/op.ipp>
#endif
