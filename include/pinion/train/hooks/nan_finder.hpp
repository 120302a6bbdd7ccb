// The hook that finds the node in which the first NaN or infinity of a training comes to be.
//
//   tr::nan_finder(loss)                          // every step is checked
//   tr::nan_finder(loss, {.from_step = 11200})    // training runs at full speed up to there
//   tr::nan_finder({.every_n_iter = 10})          // without a loss
//
// A step that has made a loss NaN has also written it to the variables, so nothing that runs afterwards finds where it
// began: the steps are checked while they run. The way of a long training is then: nan_finder with a late from_step, or
// nan_tensor, costs next to nothing and tells in which step the loss was bad; the training is started again from the
// checkpoint before that, with from_step at or a little before it, and the error names the node.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <pinion/base/config.hpp>
#include <pinion/train/hooks/global_step_watch.hpp>
#include <pinion/train/hooks/hook.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The options of nan_finder.
struct nan_finder_options {
  // One step of so many is checked, beginning with the first.
  std::int64_t every_n_iter = 1;
  // Steps are checked once the global step has reached this.
  std::int64_t from_step = 0;
};

// Has steps check their values, as session_options::check_values says: one in which a NaN or an infinity comes to be
// fails with invalid_argument, and the error names the node, the line that made it, and the ranges of its inputs. It
// fetches a loss with every step, if it has one; one that is NaN or infinite after a step that was not checked throws
// invalid_argument too, which names the loss and the global step. A NaN that a step without a check wrote to a variable
// is blamed on the variable by the next step that is checked. A value that nothing in the step reads is not looked at.
//
// A step that is checked takes longer, since it is not optimized; the others take as long as ever. Only the thread of
// its session uses it. The constructors throw invalid_argument for a loss that is not of a floating-point dtype, and
// for numbers of steps below 1 or from_step below 0.
class nan_finder {
 public:
  explicit nan_finder(const nan_finder_options& o = {});
  explicit nan_finder(const any_expr& loss, const nan_finder_options& o = {});
  // Finds the global step, or makes it.
  void begin() { step_.begin(); }
  // Forgets the step of the session before.
  void after_create_session(session&, coordinator&) { now_.reset(); }
  // Asks for a check, if one is due, and for the loss.
  run_request before_run(run_context& c);
  void after_run(run_context& c, std::span<const any_tensor> values);

 private:
  std::optional<any_expr> loss_;
  nan_finder_options o_;
  global_step_watch step_;
  std::optional<std::int64_t> now_;  // the global step before the next run, or one more; empty: not known
  std::int64_t runs_ = 0;            // since from_step
  bool checked_ = false;             // does the run under way check its values?
};
PINION_HELD_HOOK(nan_finder)

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/nan_finder.ipp>
#endif
