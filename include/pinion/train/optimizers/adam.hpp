// Adam.
#pragma once

#include <algorithm>

#include <pinion/train/optimizers/optimizer.hpp>

namespace pinion::inline v0::train {

struct adam_options {
  scalar_value learning_rate = .001;
  double beta1 = .9, beta2 = .999;
  double epsilon = 1e-8;  // beside the root: the "epsilon hat" of the paper's section 2
  bool lazy = false;      // a sparse gradient changes the rows that it names alone
};

// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
// w -= rate sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + epsilon) in step t = 1, 2, ... (Kingma and Ba 2015, as
// TensorFlow 1.15 has it). Slots "m" and "v", W/Adam and W/Adam_1.
//
// The powers of the betas are two variables of the optimizer, beta1_power and beta2_power, beside that of its variables
// whose name is the least; as in TensorFlow they begin with beta, and each apply_gradients multiplies them once, when
// all its updates are done. They are double whatever is trained: in float 1 - .999 is off by 3e-5. The rate is
// corrected there, once a step, and goes to the variables as a scalar.
//
// By a sparse gradient m and v decay in all rows, and all rows move, as if the gradient were 0 in those that it does
// not name: that is TensorFlow's and the formula's, and what a dense gradient does. `lazy` is TensorFlow's LazyAdam:
// rows that are not named stay, with their m and v, and a step costs as much as it has rows.
class adam : public optimizer<adam> {
 public:
  static constexpr std::string_view name = "Adam";
  static constexpr std::array<std::string_view, 2> slots{"m", "v"};
  using options = adam_options;
  // Throws invalid_argument unless the betas are in [0, 1).
  explicit adam(const options& o) : o_(o) {
    for (const double beta : {o.beta1, o.beta2})
      if (!(beta >= 0 && beta < 1))
        throw error(errc::invalid_argument, "a beta of adam is " + std::to_string(beta) + "; it must be in [0, 1)");
  }

  scalar_value rate(graph& g, const std::vector<gradient_of_variable>& gradients) const {
    const auto by_name = [&](const auto& a, const auto& b) { return g[a.variable].name < g[b.variable].name; };
    const node_id first = std::min_element(gradients.begin(), gradients.end(), by_name)->variable;
    const auto one = power(g, first, "beta1_power", o_.beta1), two = power(g, first, "beta2_power", o_.beta2);
    const colocate_with near(operation(g, one.id()));
    return scalar_value(formula_node<3>(g, "Adam/rate", {o_.learning_rate, one, two}, [](const auto& x) {
      const auto correction = sqrt(1.0 - x[2]) / (1.0 - x[1]);
      return x[0] * correction;
    }));
  }

  operation apply_one(graph& g, node_id variable, const gradient_value& gradient, const scalar_value& rate) const {
    const node_id m = slot(g, variable, "m", 0), v = slot(g, variable, "v", 0);
    return make_update<rules::adam>(g, ops_of<op::apply_adam, op::sparse_apply_adam>, {variable, m, v},
                                    o_.lazy ? gradient : dense(g, variable, gradient),
                                    {rate, o_.beta1, o_.beta2, o_.epsilon});
  }

  std::vector<operation> finish(graph& g, const std::vector<operation>& updates) const {
    std::vector<operation> all;
    for (const auto& [slot_name, beta] : {std::pair{"beta1_power", o_.beta1}, {"beta2_power", o_.beta2}}) {
      const node_id power = made().find(g, no_node, slot_name);
      const colocate_with near(operation(g, power));
      node_request request{.op = op::assign_multiply::name,
                           .base_name = "Adam/" + std::string(slot_name),
                           .inputs = {{power, 0}, constant(beta, "Adam/beta").endpoint()}};
      for (const operation& u : updates) request.control_inputs.push_back(u.id());
      all.emplace_back(g, build(g, std::move(request)));
    }
    return all;
  }

 private:
  variable_handle<double> power(graph& g, node_id first, const std::string& slot_name, double beta) const {
    return handle_of<double>(g, made().find_or_make(g, no_node, slot_name, [&] {
      const control_dependencies none{nullptr};
      const colocate_with near(operation(g, first));
      return variable(beta, {.name = slot_name, .trainable = false}, g[first].where).id();
    }));
  }
  // Where the variable stands, so that rows alone travel.
  static gradient_value dense(graph& g, node_id variable, const gradient_value& gradient) {
    if (!gradient.is_sparse()) return gradient;
    const colocate_with near(operation(g, variable));
    return {autodiff::to_dense(g, gradient, {g.id_of(g[variable].name + "/read"), 0}), {}, {}};
  }

  options o_;
};

}  // namespace pinion::inline v0::train
