// The form of an elementwise kernel in CUDA C: all that its text depends on beside the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/op/elementwise/broadcast.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The way in which a kernel walks over a broadcast. Extents and strides are arguments of the kernel, so runs over
// tensors of other sizes have the same form. Operands are the inputs, then the results. A value.
struct cuda_form {
  int rank = 1;                         // the dimensions that are left after neighbours were merged
  std::vector<std::uint32_t> advances;  // bit d: the operand advances along dimension d, where 0 is the outermost
  int width = 1;                        // the elements along the innermost dimension that a thread takes at once
  bool is_wide = false;                 // indices have 64 bits, for 2^31 elements and more
  bool is_guarded = false;              // writes nothing where an earlier kernel of the step met a wrong value

  std::size_t operands() const { return advances.size(); }
  bool advances_along(std::size_t operand, int dimension) const { return (advances[operand] >> dimension & 1) != 0; }
  // True for an operand that has an element of its own for each element of the space, in the same order.
  bool is_flat(std::size_t operand) const { return advances[operand] == (std::uint32_t{1} << rank) - 1; }
  // True where a row need not be a multiple of the width, since a loop of its own takes the last elements.
  bool has_rest() const { return rank == 1 && width > 1; }

  friend bool operator==(const cuda_form&, const cuda_form&) = default;
};

// The form of a run. A thread takes 16 bytes of the largest elements at once if each operand that advances along the
// innermost dimension stands at a multiple of its share of them, and if the innermost extent is a multiple of the width
// wherever there are several dimensions; else it takes a half, and so on. Requires: `walk` and `addresses` have the
// operands of `p`, which is executable.
cuda_form cuda_form_of(const scalar::program& p, const broadcast_walk& walk, std::span<const void* const> addresses);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/elementwise/cuda_form.ipp>
#endif
