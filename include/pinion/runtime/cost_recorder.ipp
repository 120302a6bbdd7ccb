// Bodies of <pinion/runtime/cost_recorder.hpp>.
#pragma once

#include <pinion/runtime/cost_recorder.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL void cost_recorder::add(const std::string& node, std::string_view device_type,
                                    std::chrono::steady_clock::duration took) {
  std::lock_guard hold(mutex_);
  costs_.add(node, device_type, std::chrono::duration<double>(took).count());
}

PINION_DECL measured_costs cost_recorder::costs() const {
  std::lock_guard hold(mutex_);
  return costs_;
}

PINION_DECL void timed_kernel::run(kernel_context& c) {
  using clock = std::chrono::steady_clock;
  const auto began = std::make_shared<clock::time_point>(clock::now());
  devices::stream* const stream = c.device->stream();
  if (stream) stream->enqueue([began] { *began = clock::now(); });
  inner_->run(c);
  const auto tell = [began, into = into_, name = c.node->name, type = std::string(c.device->type())] {
    into->add(name, type, clock::now() - *began);
  };
  if (stream)
    stream->enqueue(tell);
  else
    tell();
}

}}}  // namespace pinion::v0::runtime
