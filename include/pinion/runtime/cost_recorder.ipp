// Bodies of <pinion/runtime/cost_recorder.hpp>.
#pragma once

#include <pinion/runtime/cost_recorder.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL void cost_recorder::add(const std::string& node, std::string_view device_type,
                                    std::chrono::steady_clock::duration took) {
  std::lock_guard hold(mutex_);
  costs_.add(node, device_type, std::chrono::duration<double>(took).count());
}

PINION_DECL void cost_recorder::add(const std::string& node, std::string_view device_type,
                                    std::shared_ptr<const devices::mark> begin,
                                    std::shared_ptr<const devices::mark> end) {
  std::lock_guard hold(mutex_);
  marked_.push_back({node, std::string(device_type), std::move(begin), std::move(end)});
  while (!marked_.empty() && take(marked_.front())) marked_.pop_front();
}

PINION_DECL measured_costs cost_recorder::costs() {
  std::lock_guard hold(mutex_);
  std::erase_if(marked_, [this](const marked_kernel& k) { return take(k); });
  return costs_;
}

PINION_DECL bool cost_recorder::take(const marked_kernel& k) {
  const auto begin = k.begin->time(), end = k.end->time();
  if (!begin || !end) return false;
  costs_.add(k.node, k.device_type, std::chrono::duration<double>(*end - *begin).count());
  return true;
}

PINION_DECL void timed_kernel::run(kernel_context& c) {
  using clock = std::chrono::steady_clock;
  if (devices::stream* const stream = c.device->stream()) {
    auto begin = stream->mark();
    inner_->run(c);
    into_->add(c.node->name, c.device->type(), std::move(begin), stream->mark());
  } else {
    const auto began = clock::now();
    inner_->run(c);
    into_->add(c.node->name, c.device->type(), clock::now() - began);
  }
}

}}}  // namespace pinion::v0::runtime
