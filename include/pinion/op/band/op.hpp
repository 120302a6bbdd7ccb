// Bands of matrices: triangles, and diagonals beside each other.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {
// A diagonal that no tensor has.
inline constexpr std::int64_t farthest_diagonal = std::int64_t{1} << 56;
// Throws invalid_argument for a tensor that holds no matrices.
void expect_matrices(const shape& x);
}  // namespace detail

// x [..., m, n] with the elements of the diagonals from "lowest" to "highest", both included, and 0 or false elsewhere.
// Element (i, j) is on diagonal j - i. A limit that is not given is none.
//
// TensorFlow's op has the numbers of diagonals below and above the main one, which cannot be negative.
struct band_part {
  static constexpr std::string_view name = "MatrixBandPart";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{
      attr::integer("lowest").between(-detail::farthest_diagonal, detail::farthest_diagonal).optional(),
      attr::integer("highest").between(-detail::farthest_diagonal, detail::farthest_diagonal).optional()};
  static constexpr bool bears_changing_inputs = true;
  static constexpr kernel_set kernels{.cpu = dtypes::plain, .gpu = {}};
  static void infer(shape_context& c);
  static void gradient(gradient_context& g);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/band/op.ipp>
#endif
