// Kernels of boxes for GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <pinion/op/layout/cuda_kernels.hpp>
#include <pinion/op/slice/boxes.hpp>
#include <pinion/op/slice/cuda_kernels.hpp>
#include <pinion/op/slice/op.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// The offset of an element of a row-major tensor.
inline std::int64_t offset_in(const shape& whole, const offsets& at) {
  std::int64_t offset = 0;
  for (int i = 0; i < whole.rank(); ++i) offset = offset * whole[i] + at[static_cast<std::size_t>(i)];
  return offset;
}

// The axes of a box in two row-major tensors.
inline std::vector<cuda::strided_axis> axes_of(const box_copy& copy) {
  std::vector<cuda::strided_axis> axes(static_cast<std::size_t>(copy.box.rank()));
  std::int64_t from = 1, to = 1;
  for (int i = copy.box.rank(); i-- > 0;) {
    axes[static_cast<std::size_t>(i)] = {copy.box[i], from, to};
    from *= copy.from[i];
    to *= copy.to[i];
  }
  return axes;
}

// Boxes on GPUs.
struct cuda_boxes {
  static void copy(kernel_context& c, const any_tensor& x, const any_tensor& y, const box_copy& box) {
    const auto axes = axes_of(box);
    const auto bytes = static_cast<std::int64_t>(size_of(x.dtype()));
    cuda::copy_strided(c.device->stream()->native(), x.byte_data() + offset_in(box.from, box.at_from) * bytes,
                       y.byte_data() + offset_in(box.to, box.at_to) * bytes, static_cast<int>(bytes), axes.data(),
                       static_cast<int>(axes.size()));
  }
  static void cut(kernel_context& c, const any_tensor& whole, int axis, const std::vector<box_part>& parts) {
    copy_parts(c, whole, axis, parts, cuda::parts_way::cut);
  }
  static void join(kernel_context& c, const std::vector<box_part>& parts, const any_tensor& whole, int axis) {
    copy_parts(c, whole, axis, parts, cuda::parts_way::join);
  }
  static void pad(kernel_context& c, const any_tensor& x, const any_tensor& y, const offsets& at, double around) {
    std::vector<cuda::padded_axis> axes;
    for (int i = 0; i < y.shape().rank(); ++i)
      axes.push_back({y.shape()[i], x.shape()[i], at[static_cast<std::size_t>(i)]});
    visit_plain(y.dtype(), [&]<class T>() {
      const T value = static_cast<T>(around);
      cuda::pad(c.device->stream()->native(), x.raw(), y.raw(), sizeof(T), axes.data(), static_cast<int>(axes.size()),
                &value);
    });
  }

 private:
  static void copy_parts(kernel_context& c, const any_tensor& whole, int axis, const std::vector<box_part>& parts,
                         cuda::parts_way way) {
    std::int64_t outer = 1, inner = 1;
    for (int i = 0; i < axis; ++i) outer *= whole.shape()[i];
    for (int i = axis + 1; i < whole.shape().rank(); ++i) inner *= whole.shape()[i];
    std::vector<cuda::tensor_part> list;
    for (const box_part& p : parts) list.push_back({p.tensor.raw(), p.at * inner, p.tensor.shape()[axis] * inner});
    cuda::copy_parts(c.device->stream()->native(), way, whole.raw(), static_cast<int>(size_of(whole.dtype())),
                     {outer, whole.shape()[axis] * inner}, list.data(), list.size());
  }
};

// The walk over a repeated tensor: each axis of x, and its repetitions before it.
inline std::vector<cuda::strided_axis> repeated_axes(const shape& x, const integers& multiples) {
  std::vector<cuda::strided_axis> axes(2 * multiples.size());
  std::int64_t from = 1, to = 1;
  for (std::size_t i = multiples.size(); i-- > 0;) {
    const std::int64_t extent = x[static_cast<int>(i)];
    axes[2 * i + 1] = {extent, from, to};
    axes[2 * i] = {multiples[i], 0, to * extent};
    from *= extent;
    to *= extent * multiples[i];
  }
  return axes;
}

template <class T>
void run_cuda_tile_grad(kernel_context& c, const integers& multiples) {
  const any_tensor& dy = c.input(0);
  const shape x = c.input(1).shape();
  expect_tiles(dy.shape(), x, multiples);
  std::vector<cuda::tiled_axis> axes;
  for (int i = 0; i < x.rank(); ++i) axes.push_back({x[i], multiples[static_cast<std::size_t>(i)]});
  const auto bytes = static_cast<std::int64_t>(cuda::sum_tiles_scratch(axes.data(), x.rank(), sizeof(T)));
  const any_tensor scratch = c.scratch(dtype::uint8, {bytes});
  cuda::sum_tiles(c.device->stream()->native(), dy.data<T>(), c.allocate(0, dy.dtype(), x).template data<T>(),
                  axes.data(), x.rank(), scratch.raw());
}

}  // namespace detail

inline std::unique_ptr<kernel> make_cuda_kernel(concat, const kernel_setup& setup) {
  return detail::make_box_kernel<detail::cuda_boxes>(concat{}, setup);
}
inline std::unique_ptr<kernel> make_cuda_kernel(split, const kernel_setup& setup) {
  return detail::make_box_kernel<detail::cuda_boxes>(split{}, setup);
}
inline std::unique_ptr<kernel> make_cuda_kernel(split_like, const kernel_setup& setup) {
  return detail::make_box_kernel<detail::cuda_boxes>(split_like{}, setup);
}
inline std::unique_ptr<kernel> make_cuda_kernel(slice, const kernel_setup& setup) {
  return detail::make_box_kernel<detail::cuda_boxes>(slice{}, setup);
}
inline std::unique_ptr<kernel> make_cuda_kernel(slice_like, const kernel_setup& setup) {
  return detail::make_box_kernel<detail::cuda_boxes>(slice_like{}, setup);
}
inline std::unique_ptr<kernel> make_cuda_kernel(pad, const kernel_setup& setup) {
  return detail::make_box_kernel<detail::cuda_boxes>(pad{}, setup);
}
inline std::unique_ptr<kernel> make_cuda_kernel(pad_like, const kernel_setup& setup) {
  return detail::make_box_kernel<detail::cuda_boxes>(pad_like{}, setup);
}

inline std::unique_ptr<kernel> make_cuda_kernel(tile, const kernel_setup& setup) {
  return make_function_kernel([multiples = setup.attrs().get<integers>("multiples")](kernel_context& c) {
    const any_tensor& x = c.input(0);
    detail::expect_one_each(tile::name, multiples, x.shape(), "multiples");
    const any_tensor& y = c.allocate(0, x.dtype(), detail::tiled(x.shape(), multiples));
    const auto axes = detail::repeated_axes(x.shape(), multiples);
    cuda::copy_strided(c.device->stream()->native(), x.raw(), y.raw(), static_cast<int>(size_of(x.dtype())),
                       axes.data(), static_cast<int>(axes.size()));
  });
}

inline std::unique_ptr<kernel> make_cuda_kernel(tile_grad, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([multiples = setup.attrs().get<integers>("multiples")](kernel_context& c) {
      detail::run_cuda_tile_grad<T>(c, multiples);
    });
  });
}

}}}  // namespace pinion::v0::op
