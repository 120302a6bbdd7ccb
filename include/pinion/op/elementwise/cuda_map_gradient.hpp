// Kernels in CUDA C that compute the gradients of a map in one pass, with sums over the axes along which an input was
// broadcast. Sums are added up in two fixed stages without atomics: the same bits in every run and on every GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/op/elementwise/broadcast.hpp>
#include <pinion/op/elementwise/cuda_form.hpp>
#include <pinion/op/elementwise/cuda_map.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The program that computes some results of another alone, for a pass of which the others are not wanted. Its inputs
// are the same.
scalar::program with_results(scalar::program p, const std::vector<bool>& wanted);

// The form of a pass. A block has 256 threads: `lanes` of them stand beside each other along a row, each with `width`
// elements, and the others in rows below. A walk of one dimension is cut into rows of 32 lanes. A value.
struct cuda_gradient_form {
  cuda_form walk;
  int lanes = 32;  // a power of 2

  int rows() const { return static_cast<int>(cuda_launch::threads) / lanes; }
  friend bool operator==(const cuda_gradient_form&, const cuda_gradient_form&) = default;
};
cuda_gradient_form cuda_gradient_form_of(const scalar::program& p, const broadcast_walk& walk,
                                         std::span<const void* const> addresses);

// The text of the pass `name`. It stores the results that have an element for each element of the space, and partial
// sums of the others.
std::string cuda_gradient_text(const scalar::program& p, const cuda_gradient_form& form, std::string_view name);

// The text of the kernel `name` that adds up partial sums of any form.
std::string cuda_sum_text(dtype type, std::string_view name);

// The launches of one run: the pass, then a sum for each result with partial sums. The order in which numbers are added
// depends on the walk alone. A value, which refers to the program. Requires: the walk is not empty.
class cuda_gradient_run {
 public:
  cuda_gradient_run(const scalar::program& p, const broadcast_walk& walk, const cuda_gradient_form& form);

  // The elements of the memory for partial sums that a result needs; 0 for one that the pass itself finishes.
  std::int64_t partial_sums(std::size_t result) const { return parts_[result].count; }
  // The pass. Results with partial sums are addressed in that memory.
  cuda_launch pass(std::span<const void* const> addresses) const;
  // The sum of a result with partial sums.
  cuda_launch sum(std::size_t result, const void* partial_sums, void* to) const;

 private:
  // A dimension of partial sums: it is one of the result, or is summed up.
  struct dimension {
    std::int64_t extent;
    bool is_kept;
  };
  struct part {
    std::vector<dimension> dimensions;
    std::int64_t count = 0;
  };
  part part_of(std::size_t result) const;

  const scalar::program* program_;
  broadcast_walk walk_;
  cuda_gradient_form form_;
  std::int64_t outer_ = 1, rows_ = 1, inner_ = 1;    // the space: rows of `inner_` packs, in groups
  std::int64_t chunk_ = 1, chunks_ = 1, tiles_ = 1;  // a block computes `chunk_` rows of a tile
  std::vector<part> parts_;
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/elementwise/cuda_map_gradient.ipp>
#endif
