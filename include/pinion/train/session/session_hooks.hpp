// The hooks of a monitored session: those of its options, and those that the options ask for.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/train/coordinator.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/session/options.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Fills in what the options of a session leave open. A frequency of 0, which means never, is left out.
void fill_in(monitored_session_options& o);

// The codes of errors by which a task was lost, or has restarted.
inline bool is_recoverable(const error& e) {
  return e.code() == errc::aborted || e.code() == errc::unavailable;
}

// The hooks of a session, in the order in which they are called.
//
// The chief's own hooks come first: the caller's, the counter, summaries; then the hooks of all tasks. The saver of
// checkpoints comes last (in TensorFlow it comes before them): a step that another hook refuses is not saved, and what
// the end() of others leaves is saved. Used by one thread.
class session_hooks {
 public:
  // Requires: the options are filled in.
  session_hooks(const monitored_session_options& o, graph& g);

  void begin() const;
  void after_create_session(session& s, coordinator& c) const;
  // Calls end() of every hook, so that one failure does not cost the last checkpoint. Returns the first failure.
  std::exception_ptr end(session& s) const;

  struct ran {
    std::vector<any_tensor> values;  // of all fetches, those of the request first
    bool stop_requested = false;
    std::optional<error> lost =
        std::nullopt;  // a task was lost by a hook that was called after the step, which has succeeded
  };
  // Runs a step with the hooks around it. `complete` may add fetches to all that the request and the hooks ask for.
  ran run(session& on, const run_request& request, const std::function<void(run_request&)>& complete) const;

 private:
  std::vector<any_hook> hooks_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/session_hooks.ipp>
#endif
