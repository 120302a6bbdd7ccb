// What is computed once training has ended.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <pinion/train/hooks/hook.hpp>

namespace pinion::inline v0::train {

// Runs a request at the end and keeps its values. Copies share them.
class final_ops {
 public:
  explicit final_ops(run_request request) : state_(std::make_shared<state>(state{std::move(request), {}})) {}
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

}  // namespace pinion::inline v0::train
