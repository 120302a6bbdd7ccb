// Kernels of variables: naming, writing, updating.
#pragma once

#include <memory>
#include <vector>

#include <pinion/op/map/cpu.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/op/variable/state.hpp>

namespace pinion::inline v0::op {

// Yields nothing that moves: consumers found the state when they were set up.
inline std::unique_ptr<kernel> make_kernel(variable, const kernel_setup& setup) {
  return make_function_kernel([state = find_variable(setup.services, setup.node)](kernel_context&) {});
}

namespace detail {

inline void copy_elements(const any_tensor& from, const any_tensor& to) {
  if (from.dtype() == dtype::string) std::copy_n(from.data<std::string>(), from.count(), to.data<std::string>());
  else std::memcpy(to.raw(), from.raw(), from.bytes());
}

}  // namespace detail

// The variable takes over the value's memory if nobody else holds it; otherwise it takes a copy, so that its memory is
// its own and later updates are in place.
inline std::unique_ptr<kernel> make_kernel(assign, const kernel_setup& setup) {
  return make_function_kernel([state = find_variable(setup.services, setup.referenced(0))](kernel_context& c) {
    const bool free = c.inputs[1].unique();
    any_tensor value = std::move(c.inputs[1]);
    if (!free) {
      any_tensor own(value.dtype(), value.shape(), c.device->memory());
      c.launch([value, own] { detail::copy_elements(value, own); });
      value = own;
    }
    state->assign(value);
    if (c.wants(0)) c.outputs[0] = value;
  });
}

namespace detail {

// One atomic update by a scalar program: references first, then values, as op::update says.
class update_kernel final : public kernel {
 public:
  update_kernel(const kernel_setup& setup, std::shared_ptr<program_runner> run, int states, bool yields_value)
      : run_(std::move(run)), states_(static_cast<std::size_t>(states)), yields_value_(yields_value),
        services_(setup.services) {
    for (int i = 0; i < states; ++i) variables_.push_back(find_variable(setup.services, setup.referenced(i)));
  }

  void run(kernel_context& c) override {
    variable_state::writing writing(variables_);
    const shape space = writing.old_value(0).shape();
    std::vector<shape> shapes;
    std::vector<map_operand> operands;
    const auto add = [&](const any_tensor& t) {
      shapes.push_back(t.shape());
      operands.push_back({t.byte_data(), size_of(t.dtype())});
    };
    std::vector<any_tensor> kept;
    for (std::size_t i = 0; i < states_; ++i) kept.push_back(writing.old_value(i));
    for (std::size_t i = states_; i < c.inputs.size(); ++i) kept.push_back(c.inputs[i]);
    for (const auto& t : kept) {
      shape wider;
      if (!broadcast(space, t.shape(), wider) || !(wider == space))
        throw error(errc::invalid_argument, "a value of shape " + to_string(t.shape()) + " updates variable '" +
                                                variables_[0]->name() + "' of shape " + to_string(space));
      add(t);
    }
    kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(states_));
    std::vector<any_tensor> rooms;
    for (std::size_t i = 0; i < states_; ++i) {
      rooms.push_back(writing.room(i, c.device->memory()));
      add(rooms.back());
    }
    map_launch launch{run_.get(), broadcast_walk(space, shapes), std::move(operands),
                      std::vector<scalar::sink>(states_, scalar::sink::store), c.inputs.size()};
    c.launch([launch = std::move(launch), keep = run_, services = &services_] {
      const std::int64_t items = launch.walk.outer() == 1 ? launch.walk.inner() : launch.walk.outer();
      const std::int64_t grain = launch.walk.outer() == 1 ? 1 << 15 : std::max<std::int64_t>(1, (1 << 15) / launch.walk.inner());
      kernel_context::in_chunks(*services, (items + grain - 1) / grain, [&](std::int64_t i) {
        launch.rows(i * grain, std::min(items, (i + 1) * grain));
      });
    });
    for (std::size_t i = 0; i < states_; ++i) writing.publish(i, rooms[i]);
    if (yields_value_ && c.wants(0)) c.outputs[0] = rooms[0];
  }

 private:
  std::shared_ptr<program_runner> run_;
  std::size_t states_;
  bool yields_value_;
  task_services& services_;
  std::vector<std::shared_ptr<variable_state>> variables_;
};

inline std::unique_ptr<kernel> make_assignment(const kernel_setup& setup, scalar::opcode op) {
  scalar::program p;
  p.arithmetic = setup.input(0).dtype;
  const auto x = p.emit_input(false), y = p.emit_input(false);
  p.results.push_back({p.emit(op, x, y), p.arithmetic});
  return std::make_unique<update_kernel>(setup, std::make_shared<program_runner>(p), 1, true);
}

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(assign_add, const kernel_setup& setup) {
  return detail::make_assignment(setup, scalar::opcode::add);
}
inline std::unique_ptr<kernel> make_kernel(assign_sub, const kernel_setup& setup) {
  return detail::make_assignment(setup, scalar::opcode::subtract);
}
template <class Self>
std::unique_ptr<kernel> make_kernel(const update<Self>&, const kernel_setup& setup) {
  return std::make_unique<detail::update_kernel>(setup, std::make_shared<program_runner>(program_of(setup.attrs())),
                                                 static_cast<int>(setup.attrs().get<std::int64_t>("states")), false);
}

}  // namespace pinion::inline v0::op
