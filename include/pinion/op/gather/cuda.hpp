// Kernels of rows by index for GPUs.
#pragma once

#include <cstdint>
#include <memory>

#include <pinion/device/cuda/sorting.hpp>
#include <pinion/op/gather/cuda_kernels.hpp>
#include <pinion/op/gather/op.hpp>
#include <pinion/op/gather/rows.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// Room for the first index that is not in [0, rows).
inline cuda::first_wrong* expect_indices(kernel_context& c, std::int64_t rows) {
  return c.expect_values(
      [rows](std::int64_t position, std::int64_t index) { return wrong_index(position, index, rows); });
}

template <class Index>
void run_cuda_gather(kernel_context& c, std::int64_t attribute) {
  const any_tensor &params = c.input(0), &indices = c.input(1);
  const rows_along along(params.shape(), attribute);
  const int axis = checked_axis(attribute, params.shape().rank());
  const any_tensor& y = c.allocate(0, params.dtype(), chosen_along(params.shape(), axis, indices.shape()));
  cuda::gather_rows(c.device->stream()->native(), params.raw(), indices.data<Index>(), y.raw(),
                    static_cast<int>(size_of(params.dtype())), {along.outer, along.rows, along.inner, indices.count()},
                    expect_indices(c, along.rows));
}

// Calls f.operator()<T>() for a dtype whose rows GPUs add up.
template <class F>
void visit_added(dtype type, F&& f) {
  visit_plain<dtypes::floating | dtypes::signed_integers>(type, f);
}

// A stable sort puts the rows of one index next to one another, so they are added in a fixed order.
template <class Index>
void run_cuda_scatter_dense(kernel_context& c, std::int64_t attribute) {
  const any_tensor &indices = c.input(0), &rows = c.input(1);
  const shape like = c.input(2).shape();
  const rows_along along(like, attribute);
  expect_rows(rows.shape(), indices.shape(), like, attribute);
  const std::int64_t n = indices.count();
  const any_tensor& y = c.allocate(0, rows.dtype(), like);
  const any_tensor sorted = c.scratch(dtype::int32, {n}), positions = c.scratch(dtype::int32, {n});
  const auto bytes = static_cast<std::int64_t>(cuda::sort_positions_scratch(n, along.rows));
  const any_tensor scratch = c.scratch(dtype::uint8, {bytes});
  auto *const keys = static_cast<std::uint32_t*>(sorted.raw()), *const places =
                                                                    static_cast<std::uint32_t*>(positions.raw());
  const auto stream = c.device->stream()->native();
  cuda::sort_positions(stream, indices.data<Index>(), n, along.rows, keys, places, scratch.raw(),
                       expect_indices(c, along.rows));
  visit_added(rows.dtype(), [&]<class T>() {
    const cuda::chosen_rows of{along.outer, along.rows, along.inner, n};
    const any_tensor sums = c.scratch(rows.dtype(), {cuda::add_rows_scratch(of)});
    cuda::add_rows(stream, rows.data<T>(), keys, places, y.data<T>(), sums.data<T>(), of);
  });
}

template <class Index>
void run_cuda_one_hot(kernel_context& c, dtype type, std::int64_t depth) {
  const any_tensor& indices = c.input(0);
  shape extent = indices.shape();
  extent.push_back(depth);
  const any_tensor& y = c.allocate(0, type, extent);
  visit_plain(type, [&]<class T>() {
    const T one = T(1);
    cuda::one_hot(c.device->stream()->native(), indices.data<Index>(), y.raw(), sizeof(T), indices.count(), depth,
                  &one);
  });
}

}  // namespace detail

inline std::unique_ptr<kernel> make_cuda_kernel(gather, const kernel_setup& setup) {
  const std::int64_t axis = detail::axis_of(setup.attrs());
  return visit_plain<dtypes::signed_integers>(setup.input(1).dtype, [axis]<class Index>() {
    return make_function_kernel([axis](kernel_context& c) { detail::run_cuda_gather<Index>(c, axis); });
  });
}

inline std::unique_ptr<kernel> make_cuda_kernel(scatter_dense, const kernel_setup& setup) {
  const std::int64_t axis = detail::axis_of(setup.attrs());
  return visit_plain<dtypes::signed_integers>(setup.input(0).dtype, [axis]<class Index>() {
    return make_function_kernel([axis](kernel_context& c) { detail::run_cuda_scatter_dense<Index>(c, axis); });
  });
}

inline std::unique_ptr<kernel> make_cuda_kernel(one_hot, const kernel_setup& setup) {
  const auto depth = setup.attrs().get<std::int64_t>("depth");
  const dtype type = setup.node.outputs[0].dtype;
  return visit_plain<dtypes::integers>(setup.input(0).dtype, [=]<class Index>() {
    return make_function_kernel([=](kernel_context& c) { detail::run_cuda_one_hot<Index>(c, type, depth); });
  });
}

}}}  // namespace pinion::v0::op
