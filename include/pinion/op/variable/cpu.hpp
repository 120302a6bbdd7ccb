// Kernels of variables: the node that names a state, assignments, updates.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/launch.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/op/variable/rule.hpp>
#include <pinion/op/variable/rules.hpp>
#include <pinion/state/variable.hpp>

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
        [state, value, before] {  // readers since then hold the same memory
          if (before && before.shape() == value.shape()) detail::copy_elements(before, value);
          state->withdraw(value, before);
        });
    if (c.wants(0)) c.outputs[0] = value;
  });
}

namespace detail {

// The function that undoes an update that is not done: it copies the old values into rooms that are not their own.
inline auto keep_old(const state::variable::writing& writing, const std::vector<any_tensor>& rooms) {
  std::vector<std::pair<any_tensor, any_tensor>> copies;
  for (std::size_t i = 0; i < rooms.size(); ++i)
    if (rooms[i].raw() != writing.old_value(i).raw()) copies.emplace_back(writing.old_value(i), rooms[i]);
  return [copies = std::move(copies)] {
    for (const auto& [old, room] : copies) copy_elements(old, room);
  };
}

inline void expect_scalar(const any_tensor& value, const state::variable& updated) {
  if (value.shape().rank() != 0)
    throw error(errc::invalid_argument, "a rate of shape " + to_string(value.shape()) + " updates variable '" +
                                            updated.name() + "'; it is a scalar");
}

// One atomic update by a scalar program: references first, then values, as op::update describes it.
class update_kernel final : public kernel {
 public:
  update_kernel(const kernel_setup& setup, const scalar::program& p, int states, bool yields_value)
      : program_(p), states_(static_cast<std::size_t>(states)), yields_value_(yields_value), services_(setup.services) {
    for (int i = 0; i < states; ++i) variables_.push_back(state::find_variable(setup.services, setup.referenced(i)));
  }

  void run(kernel_context& c) override {
    state::variable::writing writing(variables_);
    std::vector<any_tensor> inputs;
    for (std::size_t i = 0; i < states_; ++i) inputs.push_back(writing.old_value(i));
    for (std::size_t i = states_; i < c.inputs.size(); ++i) inputs.push_back(c.inputs[i]);
    for (std::size_t i = states_ + 1; i < inputs.size(); ++i) expect_scalar(inputs[i], *variables_[0]);
    map_launch launch(program_, layouts_.find(inputs, [&] { return layout_of(inputs); }));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      launch.operand(inputs[i]);
      if (i < states_) inputs[i] = {};  // drops this reference, so that an unread state counts as free
    }
    std::vector<any_tensor> rooms;
    for (std::size_t i = 0; i < states_; ++i) launch.operand(rooms.emplace_back(writing.room(i, c.device->memory())));
    c.launch_or([launch = std::move(launch), services = &services_] { launch.run(*services); },
                detail::keep_old(writing, rooms));
    for (std::size_t i = 0; i < states_; ++i) writing.publish(i, rooms[i]);
    if (yields_value_ && c.wants(0)) c.outputs[0] = rooms[0];
  }

 private:
  map_layout layout_of(std::span<const any_tensor> inputs) const {
    const shape& space = inputs[0].shape();
    for (std::size_t i = 1; i < states_; ++i)
      if (!(inputs[i].shape() == space))
        throw error(errc::invalid_argument, "slot '" + variables_[i]->name() + "' of shape " +
                                                to_string(inputs[i].shape()) + " does not go with variable '" +
                                                variables_[0]->name() + "' of shape " + to_string(space));
    for (const auto& t : inputs) {
      shape wider;
      if (!broadcast(space, t.shape(), wider) || !(wider == space))
        throw error(errc::invalid_argument, "a value of shape " + to_string(t.shape()) + " updates variable '" +
                                                variables_[0]->name() + "' of shape " + to_string(space));
    }
    return map_layout(shapes_of(inputs), space, std::vector<shape>(states_, space), program_.program());
  }

  const program_runner program_;
  layout_cache layouts_;
  std::size_t states_;
  bool yields_value_;
  task_services& services_;
  std::vector<std::shared_ptr<state::variable>> variables_;
};

// A number repeated `widest` times, as a strip takes an input that does not advance.
template <class T>
std::array<T, scalar::widest> splat_of(const any_tensor& scalar) {
  std::array<T, scalar::widest> all;
  all.fill(*scalar.data<T>());
  return all;
}

// The rows that some indices name, each once, with the positions of its gradients.
template <class Index>
std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>> named_rows(const any_tensor& indices,
                                                                           std::int64_t rows) {
  std::vector<std::pair<std::int64_t, std::int64_t>> order;  // row, position
  for (std::int64_t i = 0; i < indices.count(); ++i) {
    const auto row = static_cast<std::int64_t>(indices.data<Index>()[i]);
    if (row < 0 || row >= rows)
      throw error(errc::invalid_argument, "index " + std::to_string(row) + " at position " + std::to_string(i) +
                                              " is not in [0, " + std::to_string(rows) + ")");
    order.emplace_back(row, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>> named;
  for (const auto& [row, position] : order) {
    if (named.empty() || named.back().first != row) named.push_back({row, {}});
    named.back().second.push_back(position);
  }
  return named;
}

// An update of the rows of a sparse gradient, as op::sparse_update describes it. In place where nobody reads the
// variable, otherwise in a copy, since other rows keep their values.
class sparse_update_kernel final : public kernel {
 public:
  explicit sparse_update_kernel(const kernel_setup& setup)
      : program_(std::make_shared<program_runner>(program_of(setup.attrs()))) {
    for (int i = 0; i < static_cast<int>(setup.attrs().get<std::int64_t>("states")); ++i)
      variables_.push_back(state::find_variable(setup.services, setup.referenced(i)));
  }

  void run(kernel_context& c) override {
    const std::size_t states = variables_.size();
    const any_tensor indices = c.inputs[states], rows = c.inputs[states + 1];
    const std::vector<any_tensor> scalars(c.inputs.begin() + static_cast<std::ptrdiff_t>(states) + 2, c.inputs.end());
    for (const any_tensor& s : scalars) expect_scalar(s, *variables_[0]);
    state::variable::writing writing(variables_);
    std::vector<any_tensor> rooms;
    for (std::size_t i = 0; i < states; ++i) {
      const any_tensor& old = writing.old_value(i);
      expect_rows(old.shape(), indices.shape(), rows.shape());
      if (!(old.shape() == writing.old_value(0).shape())) refuse_slot(i, old.shape());
      rooms.push_back(writing.room(i, c.device->memory()));
    }
    const auto copy = keep_old(writing, rooms);
    c.launch_or(copy, copy);  // other rows keep their values
    visit_plain(rows.dtype(), [&]<class T>() {
      if constexpr (std::is_floating_point_v<T>)
        c.launch([program = program_, rooms, indices, rows, scalars] {
          update<T>(*program, rooms, indices, rows, scalars);
        });
    });
    for (std::size_t i = 0; i < states; ++i) writing.publish(i, rooms[i]);
  }

 private:
  void expect_rows(const shape& variable, const shape& indices, const shape& rows) const {
    shape wanted = variable;
    if (wanted.rank() > 0 && indices.rank() == 1) wanted.set(0, indices[0]);
    if (variable.rank() == 0 || indices.rank() != 1 || !(rows == wanted))
      throw error(errc::invalid_argument, "rows of shape " + to_string(rows) + " at indices of shape " +
                                              to_string(indices) + " do not update variable '" + variables_[0]->name() +
                                              "' of shape " + to_string(variable));
  }
  [[noreturn]] void refuse_slot(std::size_t i, const shape& extent) const {
    throw error(errc::invalid_argument, "slot '" + variables_[i]->name() + "' of shape " + to_string(extent) +
                                            " does not go with variable '" + variables_[0]->name() + "'");
  }
  template <class T>
  static void update(const program_runner& program, const std::vector<any_tensor>& states, const any_tensor& indices,
                     const any_tensor& rows, const std::vector<any_tensor>& scalars) {
    const std::int64_t m = states[0].shape()[0], size = m == 0 ? 0 : states[0].count() / m;
    const auto named =
        indices.dtype() == dtype::int64 ? named_rows<std::int64_t>(indices, m) : named_rows<std::int32_t>(indices, m);
    std::vector<T> gradient(static_cast<std::size_t>(size));
    std::vector<std::array<T, scalar::widest>> splats;
    for (const any_tensor& s : scalars) splats.push_back(splat_of<T>(s));
    for (const auto& [row, positions] : named) {
      std::fill(gradient.begin(), gradient.end(), T(0));
      for (const std::int64_t p : positions)
        for (std::int64_t i = 0; i < size; ++i) gradient[static_cast<std::size_t>(i)] += rows.data<T>()[p * size + i];
      scalar::strip s;
      s.n = size;
      for (std::size_t k = 0; k <= states.size(); ++k) {
        s.advance[k] = ~std::int64_t{0};
        s.in[k] = k < states.size() ? states[k].data<T>() + row * size : gradient.data();
      }
      for (std::size_t k = 0; k < splats.size(); ++k) {
        s.advance[states.size() + 1 + k] = 0;
        s.in[states.size() + 1 + k] = splats[k].data();
      }
      for (std::size_t k = 0; k < states.size(); ++k) {
        s.out[k] = states[k].data<T>() + row * size;
        s.how[k] = scalar::sink::store;
      }
      if (size > 0) program(s);
    }
  }

  std::shared_ptr<const program_runner> program_;
  std::vector<std::shared_ptr<state::variable>> variables_;
};

inline std::unique_ptr<kernel> make_assignment(const kernel_setup& setup, scalar::opcode op) {
  scalar::program p;
  p.arithmetic = setup.input(0).dtype;
  const auto x = p.emit_input(false), y = p.emit_input(false);
  p.results.push_back({p.emit(op, x, y), p.arithmetic});
  return std::make_unique<update_kernel>(setup, p, 1, true);
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
                                                 static_cast<int>(setup.attrs().get<std::int64_t>("states")), false);
}

template <class Self>
std::unique_ptr<kernel> make_kernel(const sparse_update<Self>&, const kernel_setup& setup) {
  return std::make_unique<detail::sparse_update_kernel>(setup);
}

}}}  // namespace pinion::v0::op
