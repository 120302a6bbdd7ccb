// The part of an update of variables that does not depend on the device: which variables, and how their operands lie.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/layout.hpp>
#include <pinion/op/matmul/extents.hpp>
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

// Throws invalid_argument where the factors of a product, or the slots, do not go with the variable.
inline product_sides expect_product(const state::writing& writing, const state::updated_variables& updated,
                                    const shape& a, bool transpose_a, const shape& b, bool transpose_b) {
  const shape& space = writing.old_value(0).shape();
  if (a.rank() != 2 || b.rank() != 2 || a[transpose_a ? 0 : 1] != b[transpose_b ? 1 : 0] ||
      !(space == shape{a[transpose_a ? 1 : 0], b[transpose_b ? 0 : 1]}))
    throw error(errc::invalid_argument, "a product of shapes " + to_string(a) + " and " + to_string(b) +
                                            " does not update variable '" + updated[0].name() + "' of shape " +
                                            to_string(space));
  expect_slots(writing, updated);
  return sides_of_product(a, transpose_a, b, transpose_b);
}

// Throws invalid_argument where the indices, rows and numbers of a sparse gradient, or the slots, do not go with the
// variable.
inline void expect_sparse(const state::writing& writing, const state::updated_variables& updated,
                          std::span<const any_tensor> values) {
  const shape &variable = writing.old_value(0).shape(), &indices = values[0].shape(), &rows = values[1].shape();
  shape wanted = variable;
  if (wanted.rank() > 0 && indices.rank() == 1) wanted.set(0, indices[0]);
  if (variable.rank() == 0 || indices.rank() != 1 || !(rows == wanted))
    throw error(errc::invalid_argument, "rows of shape " + to_string(rows) + " at indices of shape " +
                                            to_string(indices) + " do not update variable '" + updated[0].name() +
                                            "' of shape " + to_string(variable));
  expect_slots(writing, updated);
  for (const any_tensor& number : values.subspan(2)) expect_scalar(number, updated[0]);
}

// The error of an index of a sparse gradient that is no row of the variable.
inline error wrong_row(std::int64_t position, std::int64_t row, std::int64_t rows) {
  return error(errc::invalid_argument, "index " + std::to_string(row) + " at position " + std::to_string(position) +
                                           " is not in [0, " + std::to_string(rows) + ")");
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
    if (!(values[0].shape() == space))
      throw error(errc::invalid_argument, "a value of shape " + to_string(values[0].shape()) + " updates variable '" +
                                              updated[0].name() + "' of shape " + to_string(space) +
                                              "; it does not broadcast");
    for (const any_tensor& number : values.subspan(1)) expect_scalar(number, updated[0]);
    for (const any_tensor& value : values) inputs.push_back(value.shape());
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
