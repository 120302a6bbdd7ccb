// A stream of a GPU.
#pragma once

#include <memory>

#include <pinion/base/config.hpp>
#include <pinion/device/cuda/card.hpp>
#include <pinion/device/device.hpp>
#include <pinion/device/ordered_thread.hpp>

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
  mark(std::shared_ptr<CUevent_st> at, std::shared_ptr<const card::clock_base> base)
      : at_(std::move(at)), base_(std::move(base)) {}
  std::optional<time_point> time() const override;

 private:
  const std::shared_ptr<CUevent_st> at_;
  const std::shared_ptr<const card::clock_base> base_;
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
  // Throws the failure of a GPU that is lost.
  devices::cuda_stream native() override;
  // The stream even where the GPU is lost, to let go of what belongs to it.
  devices::cuda_stream handle() const noexcept { return native_; }
  // Waits for all callbacks that were given before.
  void settle() { callbacks_.settle(); }

 private:
  const std::shared_ptr<card> card_;
  devices::cuda_stream native_ = nullptr;
  devices::ordered_thread callbacks_;
};

}}}  // namespace pinion::v0::cuda

#if PINION_HEADER_ONLY
#include <pinion/device/cuda/stream.ipp>
#endif
