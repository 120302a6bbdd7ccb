// The state that an optimizer keeps once for all its variables, such as Adam's powers, and the parts that optimizers of
// several moments share.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>
#include <pinion/train/handle.hpp>
#include <pinion/train/optimizers/gradient_of_variable.hpp>
#include <pinion/train/optimizers/slot_table.hpp>
#include <pinion/train/optimizers/slots.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

// The variable, among those that are trained, whose name comes first in the alphabet. Requires: there are gradients.
node_id first_by_name(graph& g, const std::vector<gradient_of_variable>& gradients);

// The number that the table `made` keeps for all variables under a name. The first call makes it, beside the variable
// `beside`; it begins as `value`, and is a global variable that is not trained.
template <class T>
variable_handle<T> shared_number(slot_table& made, graph& g, node_id beside, const std::string& name, T value) {
  return handle_of<T>(g, made.find_or_make(g, no_node, name, [&] {
    const control_dependencies none{nullptr};
    const colocate_with near(operation(g, beside));
    return variable(value, {.name = name, .trainable = false}, g[beside].where).id(g);
  }));
}

// Names of Adam's two powers, and their betas.
struct beta_power {
  std::string_view name;
  double beta;
};
std::vector<beta_power> beta_powers(double beta1, double beta2);

// Adam's rate with the correction for the number of the step, one node OPTIMIZER/rate in double beside the powers.
scalar_value corrected_rate(slot_table& made, graph& g, std::string_view optimizer, const scalar_value& rate,
                            std::span<const beta_power> powers, const std::vector<gradient_of_variable>& gradients);

// The nodes that multiply the powers once the updates are done. Requires: corrected_rate has made them.
std::vector<operation> multiply_powers(const slot_table& made, graph& g, std::string_view optimizer,
                                       std::span<const beta_power> powers, const std::vector<operation>& updates);

// The node that changes one of these numbers by an assignment `op`, once the updates are done. Requires: shared_number
// has made it.
struct named_amount {
  std::string_view name;
  double amount;
};
operation change_number(const slot_table& made, graph& g, std::string_view optimizer, std::string_view name,
                        std::string_view op, const named_amount& by, const std::vector<operation>& updates);

// A sparse gradient made dense, on the device of the variable, so that only its rows travel there.
gradient_value dense_gradient(graph& g, node_id variable, const gradient_value& gradient);

// True unless a function is given that says false of the variable's name. A part of a partitioned variable is asked for
// by the name of the whole.
bool says_of(const std::function<bool(std::string_view)>& function, graph& g, node_id variable);

// A rate in the dtype of a variable, as an expression.
any_expr rate_of_variable(graph& g, node_id variable, const scalar_value& rate);

}}}}  // namespace pinion::v0::train::detail

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/optimizer_state.ipp>
#endif
