// Updates of variables by scalar programs on GPUs.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <pinion/op/elementwise/cuda_map_program.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/op/variable/update_layout.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// Room for the new value of a variable. What is recorded runs later, and readers would find new memory that nothing has
// filled; so while a recording is made, as `c.memory` tells, a variable that somebody else holds is refused.
inline const any_tensor& cuda_room(kernel_context& c, state::writing& writing, std::size_t i) {
  const any_tensor& room = writing.make_room(i, c.device->memory());
  if (!c.memory || writing.in_place(i)) return room;
  throw error(errc::unimplemented, "an update is recorded only while nobody else holds its variables");
}

// The operands of an update: the old values of the variables, then the values, then room for the new ones.
inline cuda_addresses cuda_update_operands(kernel_context& c, state::writing& writing, std::size_t variables,
                                           std::span<const any_tensor> values) {
  cuda_addresses operands;
  for (std::size_t i = 0; i < variables; ++i) operands.add(writing.old_value(i));
  for (const any_tensor& v : values) operands.add(v);
  for (std::size_t i = 0; i < variables; ++i) operands.add(cuda_room(c, writing, i));
  return operands;
}

// One atomic update by a scalar program: references first, then values, as op::update describes it.
class cuda_update_kernel final : public kernel {
 public:
  cuda_update_kernel(const kernel_setup& setup, const scalar::program& p, std::int64_t states, bool yields_value)
      : program_(setup, p, true), variables_(updated_by(setup, states)), yields_value_(yields_value) {
    announce_code(setup);
  }

  void run(kernel_context& c) override {
    state::writing writing(variables_);
    const auto values = c.inputs.subspan(variables_.size());
    const auto layout = layouts_.find(writing, variables_, values, program_.program());
    program_.run(c, layout->walk, cuda_update_operands(c, writing, variables_.size(), values));
    writing.publish();
    if (yields_value_ && c.wants(0)) c.outputs[0] = writing.old_value(0);
  }

 private:
  // A gradient whose shape the graph does not know counts as one of the variable's shape.
  void announce_code(const kernel_setup& setup) {
    const shape space = setup.input(0).shape;
    if (!space.known() || space.count() == 0) return;
    std::vector<shape> operands(variables_.size(), space);
    for (std::size_t i = variables_.size(); i < setup.node.inputs.size(); ++i) {
      const shape& given = setup.input(static_cast<int>(i)).shape;
      operands.push_back(given.known() ? given : i == variables_.size() ? space : shape{});
      shape wider;
      if (!broadcast(space, operands.back(), wider) || !(wider == space)) return;
    }
    operands.insert(operands.end(), variables_.size(), space);
    program_.announce(broadcast_walk(space, operands));
  }

  cuda_map_program program_;
  update_layouts layouts_;
  const state::updated_variables variables_;
  const bool yields_value_;
};

inline std::unique_ptr<kernel> make_cuda_assignment(const kernel_setup& setup, scalar::opcode op) {
  return std::make_unique<cuda_update_kernel>(setup, assignment(setup.input(0).dtype, op), 1, true);
}

}  // namespace detail

inline std::unique_ptr<kernel> make_cuda_kernel(assign_add, const kernel_setup& setup) {
  return detail::make_cuda_assignment(setup, scalar::opcode::add);
}
inline std::unique_ptr<kernel> make_cuda_kernel(assign_sub, const kernel_setup& setup) {
  return detail::make_cuda_assignment(setup, scalar::opcode::subtract);
}
inline std::unique_ptr<kernel> make_cuda_kernel(assign_multiply, const kernel_setup& setup) {
  return detail::make_cuda_assignment(setup, scalar::opcode::multiply);
}
template <class Self>
std::unique_ptr<kernel> make_cuda_kernel(const update<Self>&, const kernel_setup& setup) {
  return std::make_unique<detail::cuda_update_kernel>(setup, program_of(setup.attrs()),
                                                      setup.attrs().get<std::int64_t>("states"), false);
}

}}}  // namespace pinion::v0::op
