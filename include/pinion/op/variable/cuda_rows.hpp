// Updates of variables on GPUs by the rows of sparse gradients.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <pinion/device/cuda/sorting.hpp>
#include <pinion/op/elementwise/cuda_map_program.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/variable/cuda_kernels.hpp>
#include <pinion/op/variable/cuda_update.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/op/variable/update_layout.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// The rows that the indices of a sparse gradient name, sorted on the GPU. An index that is no row fails the step.
class cuda_named_rows {
 public:
  cuda_named_rows(kernel_context& c, const any_tensor& indices, const shape& variable)
      : rows_(c.scratch(dtype::int32, indices.shape())), positions_(c.scratch(dtype::int32, indices.shape())) {
    const std::int64_t n = indices.count(), extent = variable[0];
    named_ = {static_cast<const std::uint32_t*>(rows_.raw()), static_cast<const std::uint32_t*>(positions_.raw()), n,
              extent, extent == 0 ? 0 : variable.count() / extent};
    wrong_ =
        c.expect_values([extent](std::int64_t position, std::int64_t row) { return wrong_row(position, row, extent); });
    visit_plain<dtypes::signed_integers>(indices.dtype(), [&]<class Index>() { sort<Index>(c, indices); });
  }

  const cuda::named_rows& named() const { return named_; }
  // The shape of a tensor with an element for each element of each place.
  shape compact() const { return {named_.n, named_.size}; }

 private:
  template <class Index>
  void sort(kernel_context& c, const any_tensor& indices) {
    const auto bytes = static_cast<std::int64_t>(cuda::sort_positions_scratch(named_.n, named_.extent));
    const any_tensor scratch = c.scratch(dtype::uint8, {bytes});
    cuda::sort_positions(c.device->stream()->native(), indices.data<Index>(), named_.n, named_.extent,
                         static_cast<std::uint32_t*>(rows_.raw()), static_cast<std::uint32_t*>(positions_.raw()),
                         scratch.raw(), wrong_);
  }

  const any_tensor rows_, positions_;
  cuda::named_rows named_{};
  cuda::first_wrong* wrong_ = nullptr;
};

// An update of the rows of a sparse gradient, as op::sparse_update describes it: the rows are taken out of the states,
// updated, and put back. In place where nobody reads the variable, otherwise in a copy, since other rows keep their
// values.
class cuda_sparse_update_kernel final : public kernel {
 public:
  explicit cuda_sparse_update_kernel(const kernel_setup& setup)
      : program_(setup, program_of(setup.attrs())),
        variables_(updated_by(setup, setup.attrs().get<std::int64_t>("states"))) {
    announce_code(setup);
  }

  void run(kernel_context& c) override {
    state::writing writing(variables_);
    const auto values = c.inputs.subspan(variables_.size());
    expect_sparse(writing, variables_, values);
    const auto stream = c.device->stream()->native();
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      const any_tensor &old = writing.old_value(i), &room = cuda_room(c, writing, i);
      if (!writing.in_place(i)) cuda::copy_bytes(stream, room.raw(), old.raw(), old.bytes());
    }
    if (values[0].count() > 0) update_rows(c, writing, values);
    writing.publish();
  }

 private:
  void announce_code(const kernel_setup& setup) {
    const shape variable = setup.input(0).shape, indices = setup.input(static_cast<int>(variables_.size())).shape;
    if (!variable.known() || variable.rank() == 0 || variable.count() == 0) return;
    const std::int64_t n = indices.known() ? indices.count() : assumed_extent;
    if (n > 0)
      program_.announce(
          walk_over({n, variable.count() / variable[0]}, setup.node.inputs.size() - variables_.size() - 2));
  }
  void update_rows(kernel_context& c, const state::writing& writing, std::span<const any_tensor> values) {
    const cuda_named_rows rows(c, values[0], writing.old_value(0).shape());
    visit_plain(values[1].dtype(), [&]<class T>() {
      if constexpr (std::is_floating_point_v<T>) update_rows<T>(c, rows, writing, values);
    });
  }
  template <class T>
  void update_rows(kernel_context& c, const cuda_named_rows& rows, const state::writing& writing,
                   std::span<const any_tensor> values) {
    const auto stream = c.device->stream()->native();
    const any_tensor sums = c.scratch(values[1].dtype(), rows.compact());
    {
      const any_tensor heads = c.scratch(values[1].dtype(), {cuda::sum_gradients_scratch(rows.named())});
      cuda::sum_gradients(stream, values[1].data<T>(), sums.data<T>(), heads.data<T>(), rows.named());
    }
    std::vector<any_tensor> taken;
    cuda_addresses operands;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      taken.push_back(c.scratch(values[1].dtype(), rows.compact()));
      cuda::take_rows<T>(stream, writing.room(i).data<T>(), taken[i].data<T>(), rows.named());
      operands.add(taken[i]);
    }
    operands.add(sums);
    for (const any_tensor& number : values.subspan(2)) operands.add(number);
    for (const any_tensor& state : taken) operands.add(state);
    program_.run(c, walk_over(rows.compact(), values.size() - 2), operands);
    const cuda::wrong_places guard = c.watch->wrong_so_far(*c.device);  // that of the rows is one of them
    for (std::size_t i = 0; i < variables_.size(); ++i)
      cuda::put_rows<T>(stream, taken[i].data<T>(), writing.room(i).data<T>(), rows.named(), guard);
  }
  // The walk over states, gradient, numbers and new states.
  broadcast_walk walk_over(const shape& space, std::size_t numbers) const {
    std::vector<shape> operands(variables_.size() + 1, space);
    operands.insert(operands.end(), numbers, shape{});
    operands.insert(operands.end(), variables_.size(), space);
    return broadcast_walk(space, operands);
  }

  cuda_map_program program_;
  const state::updated_variables variables_;
};

}  // namespace detail

template <class Self>
std::unique_ptr<kernel> make_cuda_kernel(const sparse_update<Self>&, const kernel_setup& setup) {
  return std::make_unique<detail::cuda_sparse_update_kernel>(setup);
}

}}}  // namespace pinion::v0::op
