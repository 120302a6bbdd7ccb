// A stream of a GPU.
#pragma once

#include <memory>

#include <pinion/base/config.hpp>
#include <pinion/base/look_time.hpp>
#include <pinion/device/cuda/card.hpp>
#include <pinion/device/device.hpp>
#include <pinion/device/ordered_thread.hpp>

struct CUgraphExec_st;

namespace pinion { inline namespace v0 { namespace cuda {

// A point of a stream. Thread-safe.
class event final : public devices::event {
 public:
  explicit event(std::shared_ptr<CUevent_st> of) : native_(std::move(of)) {}
  CUevent_st* native() const { return native_.get(); }

 private:
  const std::shared_ptr<CUevent_st> native_;
};

// A point of a stream with a time. Thread-safe. It has none where the GPU was lost before.
class mark final : public devices::mark {
 public:
  mark(const card& of, std::shared_ptr<CUevent_st> at, std::shared_ptr<const card::clock_base> base)
      : card_(of.facts().number), at_(std::move(at)), base_(std::move(base)) {}
  std::optional<time_point> time() const override;

 private:
  const int card_;
  const std::shared_ptr<CUevent_st> at_;
  const std::shared_ptr<const card::clock_base> base_;
};

// A graph of CUDA. Thread-safe as its stream.
class recorded_graph final : public devices::recorded_work {
 public:
  recorded_graph(std::shared_ptr<card> on, devices::cuda_stream into, CUgraphExec_st* graph)
      : card_(std::move(on)), into_(into), graph_(graph) {}
  recorded_graph(const recorded_graph&) = delete;
  ~recorded_graph() override;
  void enqueue() override;

 private:
  const std::shared_ptr<card> card_;
  const devices::cuda_stream into_;
  CUgraphExec_st* const graph_;
};

// A stream of CUDA, with a thread that waits for its points and calls back, since CUDA's own callbacks may call nothing
// of CUDA and are not called after an error. Errors of the GPU reach callbacks. The destructor waits for the callbacks;
// none of them may be the last to hold it.
class stream final : public devices::stream {
 public:
  explicit stream(std::shared_ptr<card> on);
  ~stream() override;

  // Throws internal: kernels of a GPU are no host code.
  void enqueue(std::function<void()> body) override;
  void when_reached(completion<> callback) override;
  std::shared_ptr<devices::event> record() override;
  void wait(std::shared_ptr<devices::event> point) override;
  std::shared_ptr<devices::mark> mark() override;
  void synchronize() override;
  // The stream, or the one that records in its place. Throws the failure of a GPU that is lost.
  devices::cuda_stream native() override;
  bool begin_recording() override;
  std::unique_ptr<devices::recorded_work> end_recording() override;
  // The stream itself, even while a thread records or where the GPU is lost.
  devices::cuda_stream handle() const noexcept { return native_; }
  // Waits for all callbacks that were given before.
  void settle() { callbacks_.settle(); }

 private:
  const std::shared_ptr<card> card_;
  devices::cuda_stream native_ = nullptr;
  look_time looks_;  // of the callbacks' thread
  devices::ordered_thread callbacks_;
};

}}}  // namespace pinion::v0::cuda

#if PINION_HEADER_ONLY
#include <pinion/device/cuda/stream.ipp>
#endif
