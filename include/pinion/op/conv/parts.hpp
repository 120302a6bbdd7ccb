// Convolutions over several threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include <pinion/op/conv/geometry.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// Splits the images or volumes of a convolution over the threads, in parts that depend on the shapes alone. The
// gradient by the filters is a sum over them, and is computed in one part.
template <class T, class Convolver, class Geometry>
void convolve_in_parts(Convolver& by, conv_pass pass, const Geometry& g, const T* a, const T* b, T* y,
                       task_services& services) {
  if (pass == conv_pass::by_filters || g.nothing()) return by.run(g, a, b, y);
  constexpr double operations_a_part = double(1 << 26);
  const double operations = 2.0 * static_cast<double>(g.windows.count()) *
                            static_cast<double>(g.filters.count() / g.filters[g.filters.rank() - 1]);
  const std::int64_t wanted = static_cast<std::int64_t>(operations / operations_a_part) + 1, all = g.windows[0],
                     grain = (all + wanted - 1) / wanted;
  const bool forward = pass == conv_pass::forward;
  const std::int64_t source = g.result(conv_pass::by_images).count() / all, windows = g.windows.count() / all;
  const std::int64_t from = forward ? source : windows, to = forward ? windows : source;
  kernel_context::in_chunks(services, (all + grain - 1) / grain, [&](std::int64_t i) {
    const std::int64_t first = i * grain;
    by.run(g.part(std::min(grain, all - first)), a + first * from, b, y + first * to);
  });
}

}}}}  // namespace pinion::v0::op::detail
