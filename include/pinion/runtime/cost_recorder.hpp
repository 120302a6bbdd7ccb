// Records how long each node of a session takes.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/placement/cost/measured_costs.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// The measurements of a session. Thread-safe. It outlives the kernels that report to it.
class cost_recorder {
 public:
  void add(const std::string& node, std::string_view device_type, std::chrono::steady_clock::duration took);
  // Adds the time between two marks of a stream, once both are reached.
  void add(const std::string& node, std::string_view device_type, std::shared_ptr<const devices::mark> begin,
           std::shared_ptr<const devices::mark> end);
  // The costs of all that streams have reached; that is all that steps which have ended have reported.
  measured_costs costs();

 private:
  // A measurement that a stream has not reached, or that nobody has looked at since.
  struct marked_kernel {
    std::string node, device_type;
    std::shared_ptr<const devices::mark> begin, end;
  };
  bool take(const marked_kernel& k);

  std::mutex mutex_;
  measured_costs costs_;
  std::deque<marked_kernel> marked_;
};

// Wraps a kernel and times it. On a device with a stream the time is that between marks before and behind the kernel's
// work. A kernel that waits for something else is not timed.
class timed_kernel final : public kernel {
 public:
  timed_kernel(std::shared_ptr<kernel> inner, std::shared_ptr<cost_recorder> into)
      : inner_(std::move(inner)), into_(std::move(into)) {}

  void run(kernel_context& c) override;
  bool expensive() const override { return inner_->expensive(); }
  bool blocking() const override { return inner_->blocking(); }
  void start(kernel_context& c, ended done) override { inner_->start(c, std::move(done)); }

 private:
  std::shared_ptr<kernel> inner_;
  std::shared_ptr<cost_recorder> into_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/cost_recorder.ipp>
#endif
