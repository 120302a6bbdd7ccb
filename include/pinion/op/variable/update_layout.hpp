// The part of an update of variables that does not depend on the device: which variables, and how their operands lie.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/layout.hpp>
#include <pinion/state/writing.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The variables at the reference inputs of an update.
inline state::updated_variables updated_by(const kernel_setup& setup, std::int64_t states) {
  static_assert(scalar::max_results <= state::updated_variables::most);
  std::vector<std::shared_ptr<state::variable>> found;
  for (int i = 0; i < states; ++i) found.push_back(state::find_variable(setup.services, setup.referenced(i)));
  return state::updated_variables(std::move(found));
}

inline void expect_scalar(const any_tensor& value, const state::variable& updated) {
  if (value.shape().rank() != 0)
    throw error(errc::invalid_argument, "a rate of shape " + to_string(value.shape()) + " updates variable '" +
                                            updated.name() + "'; it is a scalar");
}

// Throws invalid_argument where a slot has another shape than the variable.
inline void expect_slots(const state::writing& writing, const state::updated_variables& updated) {
  const shape& space = writing.old_value(0).shape();
  for (std::size_t i = 1; i < updated.size(); ++i)
    if (const shape& slot = writing.old_value(i).shape(); !(slot == space))
      throw error(errc::invalid_argument, "slot '" + updated[i].name() + "' of shape " + to_string(slot) +
                                              " does not go with variable '" + updated[0].name() + "' of shape " +
                                              to_string(space));
}

// The layouts of an update by a scalar program: states, then values, then the new states. Thread-safe.
class update_layouts {
 public:
  // Throws invalid_argument where slots or values do not go with the variable.
  std::shared_ptr<const map_layout> find(const state::writing& writing, const state::updated_variables& updated,
                                         std::span<const any_tensor> values, const scalar::program& p) {
    return kept_.find_where([&](const map_layout& l) { return is_of(l, writing, updated, values); },
                            [&] { return layout_of(writing, updated, values, p); });
  }

 private:
  static bool is_of(const map_layout& layout, const state::writing& writing, const state::updated_variables& updated,
                    std::span<const any_tensor> values) {
    for (std::size_t i = 0; i < updated.size(); ++i)
      if (!(writing.old_value(i).shape() == layout.inputs[i])) return false;
    return map_layout::are_of(values, std::span(layout.inputs).subspan(updated.size()));
  }
  static map_layout layout_of(const state::writing& writing, const state::updated_variables& updated,
                              std::span<const any_tensor> values, const scalar::program& p) {
    const shape space = writing.old_value(0).shape();
    expect_slots(writing, updated);
    std::vector<shape> inputs(updated.size(), space);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) expect_scalar(values[i], updated[0]);
      shape wider;
      if (!broadcast(space, inputs.emplace_back(values[i].shape()), wider) || !(wider == space))
        throw error(errc::invalid_argument, "a value of shape " + to_string(values[i].shape()) + " updates variable '" +
                                                updated[0].name() + "' of shape " + to_string(space));
    }
    return map_layout(std::move(inputs), space, std::vector<shape>(updated.size(), space), p);
  }

  layout_cache kept_;
};

// The program of an assignment that computes, such as w += x.
inline scalar::program assignment(dtype type, scalar::opcode op) {
  scalar::program p;
  p.arithmetic = type;
  const auto x = p.emit_input(false), y = p.emit_input(false);
  p.results.push_back({p.emit(op, x, y), p.arithmetic});
  return p;
}

}}}}  // namespace pinion::v0::op::detail
