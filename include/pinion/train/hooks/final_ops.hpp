// The hook that runs a request once, at the end of training.
//
//   tr::final_ops last{{.fetches = {accuracy}}};
//   ...                                         // a session with .hooks = {last} trains and is closed
//   pn::tensor<float> a{last.values()[0]};
#pragma once

#include <memory>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/runtime/session.hpp>
#include <pinion/train/hooks/hook.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Runs a request at the end of training and keeps the fetched values. Copies share them, so a program can keep a copy
// to read them. One thread at a time. Errors of the request are thrown by the session's close().
class final_ops {
 public:
  // Runs nothing yet. Throws nothing: what it asks for is checked when it runs.
  explicit final_ops(run_request request);
  void end(session& s) { state_->values = s.run(state_->request); }
  // The values of the fetches, in their order; empty before the end.
  const std::vector<any_tensor>& values() const { return state_->values; }

 private:
  struct state {
    run_request request;
    std::vector<any_tensor> values;
  };
  std::shared_ptr<state> state_;
};
PINION_HELD_HOOK(final_ops)

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/final_ops.ipp>
#endif
