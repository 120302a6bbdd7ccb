// Kernels of variables: the node that names a state, assignments, updates.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/launch.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/op/variable/product_launch.hpp>
#include <pinion/op/variable/rule.hpp>
#include <pinion/op/variable/rules.hpp>
#include <pinion/op/variable/sparse_launch.hpp>
#include <pinion/op/variable/update_layout.hpp>
#include <pinion/state/writing.hpp>

namespace pinion { inline namespace v0 { namespace op {

// This kernel yields no value: consumers found the state when they were set up.
inline std::unique_ptr<kernel> make_kernel(variable, const kernel_setup& setup) {
  const auto state = state::find_variable(setup.services, setup.node);
  state->named_on(setup.device.name());
  return make_function_kernel([state](kernel_context&) {});
}

namespace detail {

inline void copy_elements(const any_tensor& from, const any_tensor& to) {
  if (from.dtype() == dtype::string)
    std::copy_n(from.data<std::string>(), from.count(), to.data<std::string>());
  else
    std::memcpy(to.raw(), from.raw(), from.bytes());
}

}  // namespace detail

// The variable takes over the value's memory if nobody else holds it. Otherwise it takes a copy, so that its memory is
// its own and later updates are in place.
inline std::unique_ptr<kernel> make_kernel(assign, const kernel_setup& setup) {
  return make_function_kernel([state = state::find_variable(setup.services, setup.referenced(0))](kernel_context& c) {
    const bool free = c.inputs[1].unique();
    const any_tensor given = std::move(c.inputs[1]);
    c.inputs[1] = {};
    const any_tensor value = free ? given : any_tensor(given.dtype(), given.shape(), c.device->memory());
    const any_tensor before = state->assign(value);
    c.launch_or(
        [given, value] {
          if (given.raw() != value.raw()) detail::copy_elements(given, value);
        },
        [&] {
          return [state, value, before] {  // readers since then hold the same memory
            if (before && before.shape() == value.shape()) detail::copy_elements(before, value);
            state->withdraw(value, before);
          };
        });
    if (c.wants(0)) c.outputs[0] = value;
  });
}

namespace detail {

// A function that copies the old values of an update into rooms that are not their own: it undoes an update that is not
// done.
inline auto keep_old(const state::writing& writing, std::size_t states) {
  std::vector<std::pair<any_tensor, any_tensor>> copies;
  for (std::size_t i = 0; i < states; ++i)
    if (!writing.in_place(i)) copies.emplace_back(writing.old_value(i), writing.room(i));
  return [copies = std::move(copies)] {
    for (const auto& [old, room] : copies) copy_elements(old, room);
  };
}

// One atomic update by a scalar program: references first, then values, as op::update describes it.
class update_kernel final : public kernel {
 public:
  update_kernel(const kernel_setup& setup, const scalar::program& p, std::int64_t states, bool yields_value)
      : program_(p), variables_(updated_by(setup, states)), yields_value_(yields_value), services_(setup.services) {}

  void run(kernel_context& c) override {
    state::writing writing(variables_);
    c.launch_or([launch = launch_of(c, writing), services = &services_] { launch.run(*services); },
                [&] { return keep_old(writing, variables_.size()); });
    writing.publish();
    if (yields_value_ && c.wants(0)) c.outputs[0] = writing.old_value(0);
  }

 private:
  map_launch launch_of(kernel_context& c, state::writing& writing) {
    const std::size_t states = variables_.size();
    const auto values = c.inputs.subspan(states);
    map_launch launch(program_, layouts_.find(writing, variables_, values, program_.program()));
    for (std::size_t i = 0; i < states; ++i) launch.operand(writing.old_value(i));
    for (const any_tensor& v : values) launch.operand(v);
    for (std::size_t i = 0; i < states; ++i) launch.operand(writing.make_room(i, c.device->memory()));
    return launch;
  }

  const program_runner program_;
  update_layouts layouts_;
  const state::updated_variables variables_;
  bool yields_value_;
  task_services& services_;
};

// An update of the rows of a sparse gradient, as op::sparse_update describes it. In place where nobody reads the
// variable, otherwise in a copy, since other rows keep their values.
class sparse_update_kernel final : public kernel {
 public:
  explicit sparse_update_kernel(const kernel_setup& setup)
      : program_(program_of(setup.attrs())), variables_(updated_by(setup, setup.attrs().get<std::int64_t>("states"))) {}

  void run(kernel_context& c) override {
    state::writing writing(variables_);
    const auto values = c.inputs.subspan(variables_.size());
    expect_sparse(writing, variables_, values);
    bool in_place = true;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      writing.make_room(i, c.device->memory());
      in_place &= writing.in_place(i);
    }
    if (!in_place) {
      const auto copy = keep_old(writing, variables_.size());
      c.launch_or(copy, [&] { return copy; });
    }
    c.launch([launch = launch_of(c, writing, values)] { launch.run(); });
    writing.publish();
  }

 private:
  sparse_launch launch_of(kernel_context& c, const state::writing& writing, std::span<const any_tensor> values) const {
    sparse_launch launch(program_, writing.old_value(0).shape(), values[0], values[1], c);
    for (std::size_t i = 0; i < variables_.size(); ++i) launch.state(writing.room(i));
    for (const any_tensor& number : values.subspan(2)) launch.number(number);
    return launch;
  }

  const program_runner program_;
  const state::updated_variables variables_;
};

// An update by a product, as op::apply_product describes it.
class product_update_kernel final : public kernel {
 public:
  explicit product_update_kernel(const kernel_setup& setup)
      : program_(program_of(setup.attrs())),
        variables_(updated_by(setup, setup.attrs().get<std::int64_t>("states"))),
        ta_(setup.attrs().get_or("transpose_a", false)),
        tb_(setup.attrs().get_or("transpose_b", false)),
        compute_(setup.attrs().get_or("compute", dtype::float32)),
        services_(setup.services) {}
  bool expensive() const override { return expensive_.load(std::memory_order_relaxed); }

  void run(kernel_context& c) override {
    state::writing writing(variables_);
    c.launch_or([launch = launch_of(c, writing), services = &services_] { launch.run(*services); },
                [&] { return keep_old(writing, variables_.size()); });
    writing.publish();
  }

 private:
  product_launch launch_of(kernel_context& c, state::writing& writing) {
    const auto values = c.inputs.subspan(variables_.size());
    const auto of = expect_product(writing, variables_, values[0].shape(), ta_, values[1].shape(), tb_);
    expensive_.store(is_worth_a_thread(of.m, of.n, of.k), std::memory_order_relaxed);
    product_launch launch(program_, {of.m, of.n, of.k, ta_, tb_, compute_}, values[0], values[1], c.device->memory());
    for (std::size_t i = 0; i < variables_.size(); ++i)
      launch.state(writing.old_value(i), writing.make_room(i, c.device->memory()));
    for (const any_tensor& number : values.subspan(2)) {
      expect_scalar(number, variables_[0]);
      launch.number(number);
    }
    return launch;
  }

  const program_runner program_;
  const state::updated_variables variables_;
  const bool ta_, tb_;
  const dtype compute_;
  std::atomic<bool> expensive_{true};
  task_services& services_;
};

inline std::unique_ptr<kernel> make_assignment(const kernel_setup& setup, scalar::opcode op) {
  return std::make_unique<update_kernel>(setup, assignment(setup.input(0).dtype, op), 1, true);
}

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(assign_add, const kernel_setup& setup) {
  return detail::make_assignment(setup, scalar::opcode::add);
}
inline std::unique_ptr<kernel> make_kernel(assign_sub, const kernel_setup& setup) {
  return detail::make_assignment(setup, scalar::opcode::subtract);
}
inline std::unique_ptr<kernel> make_kernel(assign_multiply, const kernel_setup& setup) {
  return detail::make_assignment(setup, scalar::opcode::multiply);
}
template <class Self>
std::unique_ptr<kernel> make_kernel(const update<Self>&, const kernel_setup& setup) {
  return std::make_unique<detail::update_kernel>(setup, program_of(setup.attrs()),
                                                 setup.attrs().get<std::int64_t>("states"), false);
}

inline std::unique_ptr<kernel> make_kernel(apply_product, const kernel_setup& setup) {
  return std::make_unique<detail::product_update_kernel>(setup);
}

template <class Self>
std::unique_ptr<kernel> make_kernel(const sparse_update<Self>&, const kernel_setup& setup) {
  return std::make_unique<detail::sparse_update_kernel>(setup);
}

}}}  // namespace pinion::v0::op
