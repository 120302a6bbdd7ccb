// The Muon optimizer: the steps of matrices are orthogonal matrices.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/train/optimizers/adamw.hpp>
#include <pinion/train/optimizers/optimizer.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of muon.
struct muon_options {
  // The rate of matrices, a number or a scalar expression such as a schedule.
  scalar_value learning_rate = .02;
  // The part of b that remains from one step to the next, in [0, 1).
  double momentum = .95;
  // true: Nesterov's form.
  bool use_nesterov = true;
  // A matrix shrinks by this part, times the rate, in each step. It is not negative.
  double weight_decay = 0;
  // The number of Newton-Schulz iterations, at least 1.
  int iterations = 5;
  // Says by the name of a variable of rank 2 whether it is one of the matrices; empty: all are. The first and the last
  // layer of a network, such as an embedding, rarely are.
  std::function<bool(std::string_view)> matrices = {};
  // The options of AdamW, which trains all other variables.
  adamw_options others = {};
};

namespace detail {

// Muon for variables of rank 2 alone.
class muon_of_matrices : public optimizer<muon_of_matrices> {
 public:
  static constexpr std::string_view name = "Muon";
  static constexpr std::array<std::string_view, 1> slots{"momentum"};
  using options = muon_options;
  explicit muon_of_matrices(const options& o);

  scalar_value rate(graph&, const std::vector<gradient_of_variable>&) const { return o_.learning_rate; }
  operation apply_one(graph& g, node_id variable, const gradient_value& gradient, const scalar_value& rate) const;
  // True if this trains a variable by that gradient, and not AdamW.
  bool takes(graph& g, const gradient_of_variable& gradient) const;

 private:
  // A matrix near the orthogonal one that is nearest to x.
  output orthogonal(graph& g, const std::string& at, output x, bool is_wide) const;

  options o_;
};

}  // namespace detail

// Muon (Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks"). For a matrix w [m, n]:
//
//   b += (g - b) (1 - momentum)
//   u = g + (b - g) momentum                      without use_nesterov: u = b
//   x = u / |u|, and then five times:  a = x x^T,  x = 3.4445 x + (-4.775 a + 2.0315 a a) x
//   w -= rate (sqrt(max(1, m / n)) x + weight_decay w)
//
// The iterations move the singular values of x to about 1; they take the products x^T x where m > n. |u| is the root of
// the sum of squares, beside 1e-7. Scaled by 1 / (1 - momentum), b is the sum of the paper; x is the same.
//
// Variables of another rank, those that `matrices` says no of, and those whose gradient is sparse, are trained by
// AdamW with the options `others`. The slot "momentum" holds b in the variable W/Muon; those of the other variables are
// adamw's, see others(). The parts of a partitioned variable are matrices of their own. b and w are each written
// atomically, but not together.
//
//   auto train = tr::muon{{.matrices = [](std::string_view name) { return name.starts_with("hidden"); }}}
//                    .minimize(loss, {.global_step = step});
class muon {
 public:
  using options = muon_options;
  // Throws invalid_argument unless momentum is in [0, 1), weight_decay is finite and not negative, and there are
  // iterations; and what adamw throws.
  explicit muon(const options& o) : matrices_(o), others_(o.others) {}

  // These are the functions of every optimizer (optimizer.hpp).
  template <dsl::graph_operand L>
  std::vector<gradient_of_variable> compute_gradients(const L& loss,
                                                      const std::vector<operation>& variables = {}) const {
    return matrices_.compute_gradients(loss, variables);
  }
  operation apply_gradients(const std::vector<gradient_of_variable>& gradients, const minimize_options& o = {},
                            source_location where = source_location::current()) const;
  template <dsl::graph_operand L>
  operation minimize(const L& loss, const minimize_options& o = {},
                     source_location where = source_location::current()) const {
    return detail::minimize_by(*this, loss, o, where);
  }
  // The variable that holds a slot of a matrix.
  template <element T>
  variable_handle<T> get_slot(const variable_handle<T>& variable, std::string_view slot) const {
    return matrices_.get_slot(variable, slot);
  }
  static constexpr auto slot_names() { return detail::muon_of_matrices::slots; }
  // The optimizer of the other variables, which has their slots.
  const adamw& others() const { return others_; }

 private:
  detail::muon_of_matrices matrices_;
  adamw others_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/muon.ipp>
#endif
