// One update by the gradients of several steps, for batches that do not fit into memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/train/optimizers/conditional_writes.hpp>
#include <pinion/train/optimizers/optimizer.hpp>

namespace pinion { inline namespace v0 { namespace train {

namespace detail {

// The nodes of a step that adds gradients up.
struct accumulation {
  std::vector<gradient_of_variable> means;  // of the steps so far, for the wrapped optimizer
  expr<bool> is_last;                       // true in the step that applies them
  variable_handle<std::int64_t> count;      // the steps since the last update
};
// Adds the gradients to the variables that keep their means.
accumulation add_gradients(slot_table& made, graph& g, const std::vector<gradient_of_variable>& gradients,
                           std::int64_t steps);
// Makes the end of a step, behind the conditional update: it begins the means again, and counts the global step.
operation finish_accumulation(const slot_table& made, graph& g, const accumulation& a, const operation& updated,
                              const minimize_options& options, source_location where);
// Throws invalid_argument unless the number of steps is positive.
std::int64_t expect_micro_steps(std::int64_t steps);

}  // namespace detail

// Wraps an optimizer, so that the operation of minimize() adds the gradients of a step up, and every `steps` runs of it
// make one update by their mean. Between updates the variables, and all that the optimizer keeps, stay as they are; the
// global step is counted once an update. The updates of averages, such as batch_norm's, run in every step.
//
// The means are kept in the variables W/Accumulated, beside their variables, and the number of steps since the last
// update in "micro_steps". All are global variables that are not trained, so a training that restarts from a checkpoint
// goes on within an update. A sparse gradient is added to the rows that it names, and is applied as a dense one.
//
// It is for one replica at a time, as replicas that train asynchronously would share the means. A copy shares the
// variables. An optimizer of one's own works too, if make_update() writes its variables.
//
//   auto train = tr::accumulate{tr::adamw{{.learning_rate = 3e-4}}, 8}.minimize(loss, {.global_step = step});
template <class Optimizer>
class accumulate {
 public:
  // Throws invalid_argument unless the number of steps is positive.
  accumulate(Optimizer optimizer, std::int64_t steps)
      : optimizer_(std::move(optimizer)), steps_(detail::expect_micro_steps(steps)) {}

  // The gradients as the wrapped optimizer computes them.
  template <dsl::graph_operand L>
  std::vector<gradient_of_variable> compute_gradients(const L& loss,
                                                      const std::vector<operation>& variables = {}) const {
    return optimizer_.compute_gradients(loss, variables);
  }
  // Builds the operation of a step. Throws what the wrapped optimizer throws.
  operation apply_gradients(const std::vector<gradient_of_variable>& gradients, const minimize_options& options = {},
                            source_location where = source_location::current()) const {
    const called_from line(where);
    graph& g = detail::graph_of_step(options);
    const detail::in_graph use(g);
    const auto added = detail::add_gradients(*made_, g, detail::checked_gradients(g, gradients), steps_);
    const operation updated = [&] {
      const detail::writes_only_if last(added.is_last);
      return optimizer_.apply_gradients(added.means, {}, where);
    }();
    return detail::finish_accumulation(*made_, g, added, updated, options, where);
  }
  // Calls compute_gradients and then apply_gradients, in the graph of the loss.
  template <dsl::graph_operand L>
  operation minimize(const L& loss, const minimize_options& options = {},
                     source_location where = source_location::current()) const {
    return detail::minimize_by(*this, loss, options, where);
  }
  // The wrapped optimizer, which has the slots.
  const Optimizer& wrapped() const { return optimizer_; }

 private:
  Optimizer optimizer_;
  std::int64_t steps_;
  std::shared_ptr<slot_table> made_ = make_slot_table();
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/accumulate.ipp>
#endif
