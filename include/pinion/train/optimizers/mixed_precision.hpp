// Training whose products are computed in 16 bits, while variables stay float.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/train/optimizers/conditional_writes.hpp>
#include <pinion/train/optimizers/optimizer.hpp>
#include <pinion/train/optimizers/rounded_products.hpp>

namespace pinion { inline namespace v0 { namespace train {

struct mixed_precision_options {
  // The dtype to which products round their operands: bfloat16 or half. float32 leaves products as they are.
  dtype compute = dtype::bfloat16;
  // The loss is multiplied by this in the first step; 0: by 2^15 for half, whose gradients would become 0 otherwise,
  // and by nothing for the others, which have the range of float.
  double initial_scale = 0;
  // The scale doubles after so many steps in a row that were not left out, and halves at a step that is. 0: it stays.
  std::int64_t growth_interval = 2000;
};

namespace detail {

// Throws invalid_argument unless the options are as they say. Returns them with the scale that is meant; 0: none.
mixed_precision_options checked_options(mixed_precision_options o);
// Makes the variable that holds the scale, unless there is none, or no variable beside which it would stand.
void make_scale(slot_table& made, graph& g, const std::vector<operation>& variables, const mixed_precision_options& o);
// The loss times the scale. Losses that are no floating-point numbers stay.
output scaled_loss(slot_table& made, graph& g, output loss, const std::vector<operation>& variables,
                   const mixed_precision_options& o);
// Gradients of the loss, from those of the scaled one. What is infinite or NaN becomes NaN.
std::vector<gradient_of_variable> unscaled_gradients(const slot_table& made, graph& g,
                                                     const std::vector<gradient_of_variable>& gradients);
// True if all elements of all gradients are finite.
expr<bool> all_finite(graph& g, const std::vector<gradient_of_variable>& gradients);
// Makes the end of a step beside its conditional update: it counts, and changes the scale.
operation finish_mixed_step(slot_table& made, graph& g, const std::vector<gradient_of_variable>& gradients,
                            const expr<bool>& finite, const operation& updated, const mixed_precision_options& o,
                            const minimize_options& options, source_location where);
// The variable that the table keeps under a name. Throws not_found, in words for users, where there is none.
node_id number_of_mixed_precision(const slot_table& made, graph& g, std::string_view name);

}  // namespace detail

// Wraps an optimizer, so that the products on which the loss depends, and those of its gradients, round their operands
// to 16 bits and add up in float. The model is written as ever, in float, and so are variables, activations and
// gradients: nothing of 16 bits is stored. Products are those of matmul, einsum, convolutions, attention and
// recurrent cells, in bodies of loops and conditionals too. With oneDNN, a processor that has instructions for bfloat16
// computes large ones 1.5 to 2 times as fast; elsewhere, and for half, they are computed in float from rounded
// operands, which takes longer than without, up to twice as long. GPUs pass over it: there gpu_options::float_products
// decides for a session. Products of double stay as they are.
//
// compute_gradients marks the products. They stay marked for all who run them, such as an evaluation of the same graph.
// It comes before a session runs them: a session that has run a product, or a server that has been sent it, computes it
// as before. Of two mixed_precision with one product the later decides.
//
// A step whose gradients are not all finite is left out: variables, all that the optimizer keeps, and the global step
// (but that of sync_replicas) stay as they are, and "skipped_steps" is counted. The updates of averages, such as
// batch_norm's, run in every step. For half, and where initial_scale is given, the loss is multiplied by "loss_scale"
// and the gradients are divided by it; it halves at a step that is left out, down to 1, and doubles after
// growth_interval others, counted in "good_steps". All are global variables that are not trained, so checkpoints keep
// them. Sparse gradients stay sparse. Rules: TensorFlow 2, LossScaleOptimizer; P. Micikevicius et al., "Mixed precision
// training", 2018.
//
// It is for one replica at a time, or inside of sync_replicas. Around accumulate it leaves out single micro-batches,
// inside of it whole updates. Clip between compute_gradients and apply_gradients. A copy shares the variables. An
// optimizer of one's own works too, if make_update() writes its variables.
//
//   const tr::mixed_precision optimizer{tr::adam{{.learning_rate = 1e-3}}, {.compute = pn::dtype::bfloat16}};
//   auto train = optimizer.minimize(loss, {.global_step = step});
//   auto left_out = sess.run(optimizer.skipped_steps());
template <class Optimizer>
class mixed_precision {
 public:
  // Throws invalid_argument unless compute is bfloat16, half or float32, initial_scale is 0 or a float of full
  // precision above 0, and growth_interval is not negative.
  mixed_precision(Optimizer optimizer, const mixed_precision_options& options)
      : optimizer_(std::move(optimizer)), o_(detail::checked_options(options)) {}

  // Marks the products, and computes the gradients of the loss itself by the wrapped optimizer, from the scaled loss.
  template <dsl::graph_operand L>
  std::vector<gradient_of_variable> compute_gradients(const L& loss,
                                                      const std::vector<operation>& variables = {}) const {
    graph& g = loss.owner();
    const detail::in_graph use(g);
    const output end = dsl::endpoint_of(loss).endpoint(g);
    detail::round_products(g, end, o_.compute);
    if (o_.initial_scale == 0) return optimizer_.compute_gradients(loss, variables);
    const expr<dsl::value_of<L>> scaled(g, detail::scaled_loss(*made_, g, end, variables, o_));
    return detail::unscaled_gradients(*made_, g, optimizer_.compute_gradients(scaled, variables));
  }
  // Builds the operation of a step. Throws what the wrapped optimizer throws.
  operation apply_gradients(const std::vector<gradient_of_variable>& gradients, const minimize_options& options = {},
                            source_location where = source_location::current()) const {
    const called_from line(where);
    graph& g = detail::graph_of_step(options);
    const detail::in_graph use(g);
    const auto given = detail::checked_gradients(g, gradients);
    const expr<bool> finite = detail::all_finite(g, given);
    const operation updated = [&] {
      const detail::writes_only_if good(finite);
      minimize_options inside;
      if (!options.count_every_step) inside.global_step = options.global_step;
      return optimizer_.apply_gradients(given, inside, where);
    }();
    return detail::finish_mixed_step(*made_, g, given, finite, updated, o_, options, where);
  }
  // Calls compute_gradients and then apply_gradients, in the graph of the loss.
  template <dsl::graph_operand L>
  operation minimize(const L& loss, const minimize_options& options = {},
                     source_location where = source_location::current()) const {
    {
      const called_from line(where);
      detail::make_scale(*made_, loss.owner(), options.variables, o_);
    }
    return detail::minimize_by(*this, loss, options, where);
  }

  // The number of steps that were left out, and the scale of the loss, in a graph. Throw not_found if no gradients were
  // applied there, or none were computed; and for the scale of a loss that has none.
  variable_handle<std::int64_t> skipped_steps(graph& g = default_graph()) const {
    return handle_of<std::int64_t>(g, detail::number_of_mixed_precision(*made_, g, "skipped_steps"));
  }
  variable_handle<float> loss_scale(graph& g = default_graph()) const {
    return handle_of<float>(g, detail::number_of_mixed_precision(*made_, g, "loss_scale"));
  }
  // The wrapped optimizer, which has the slots.
  const Optimizer& wrapped() const { return optimizer_; }

 private:
  Optimizer optimizer_;
  mixed_precision_options o_;
  std::shared_ptr<slot_table> made_ = make_slot_table();
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/mixed_precision.ipp>
#endif
