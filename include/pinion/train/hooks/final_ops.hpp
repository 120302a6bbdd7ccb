// What is computed once training has ended.
#pragma once

#include <memory>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/runtime/session.hpp>
#include <pinion/train/hooks/hook.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Runs a request at the end and keeps its values. Copies share them.
class final_ops {
 public:
  explicit final_ops(run_request request);
  void end(session& s) { state_->values = s.run(state_->request); }
  // Empty before the end.
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
