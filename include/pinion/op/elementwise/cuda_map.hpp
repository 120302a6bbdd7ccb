// Elementwise kernels in CUDA C: the text of a kernel, and the arguments of its launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/device/cuda/first_wrong.hpp>
#include <pinion/op/elementwise/broadcast.hpp>
#include <pinion/op/elementwise/cuda_form.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The text of the kernel `name`, which computes an executable program in a form and stores all its results. A unit is
// scalar::cuda_prelude() and any number of such texts with distinct names. The same program and form give the same
// text: the values of literals are arguments. Operands may share memory as far as a thread then overwrites what it
// alone has read.
std::string cuda_map_text(const scalar::program& p, const cuda_form& form, std::string_view name);

// One launch: the only argument of the kernel, as its text declares it, and the size of the grid. A value.
struct cuda_launch {
  static constexpr unsigned threads = 256;  // of a block

  std::vector<std::byte> argument;
  unsigned blocks = 1;
};

// The launch of a map over a walk that is not empty. Requires: the form is that of the program, the walk and the
// addresses, or a narrower one.
// A kernel of a guarded form heeds the places of wrong values.
cuda_launch cuda_map_launch(const scalar::program& p, const broadcast_walk& walk, const cuda_form& form,
                            std::span<const void* const> addresses, const cuda::wrong_places& guard = {});

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/elementwise/cuda_map.ipp>
#endif
