// Bodies of <pinion/device/cuda/stream.hpp>.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <thread>
#include <utility>

#include <pinion/device/cuda/stream.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

namespace detail {

// Waits for an event: it looks for it, and then sleeps.
inline cudaError_t await(CUevent_st* e, look_time& looks) {
  const auto begin = std::chrono::steady_clock::now();
  const auto took = [&] { return std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin); };
  const auto most = looks.next();
  cudaError_t is = cudaEventQuery(e);
  for (; is == cudaErrorNotReady && took() < most; is = cudaEventQuery(e)) std::this_thread::yield();
  cudaGetLastError();  // "not ready" is no error that the launches of others may find
  if (is == cudaErrorNotReady) is = cudaEventSynchronize(e);
  looks.took(took());
  return is;
}

// The stream that records in this thread, and the one in whose place it does; null: none.
struct recording {
  const stream* of = nullptr;
  cudaStream_t by = nullptr;

  static recording& of_this_thread() {
    thread_local recording mine;
    return mine;
  }
};

}  // namespace detail

PINION_DECL recorded_graph::~recorded_graph() {
  const card::visit here(card_->facts().number);
  cudaGraphExecDestroy(graph_);
}

PINION_DECL void recorded_graph::enqueue() {
  card_->enter();
  card_->expect(cudaGraphLaunch(graph_, into_), "cudaGraphLaunch");
}

PINION_DECL std::optional<mark::time_point> mark::time() const {
  const card::visit here(card_);
  float milliseconds = 0;
  if (cudaEventElapsedTime(&milliseconds, base_->event.get(), at_.get())) return cudaGetLastError(), std::nullopt;
  return base_->time +
         std::chrono::duration_cast<time_point::duration>(std::chrono::duration<float, std::milli>(milliseconds));
}

PINION_DECL stream::stream(std::shared_ptr<card> on) : card_(std::move(on)) {
  card_->enter();
  card_->expect(cudaStreamCreateWithFlags(&native_, cudaStreamNonBlocking), "cudaStreamCreate");
}

PINION_DECL stream::~stream() {
  callbacks_.settle();
  const card::visit here(card_->facts().number);
  cudaStreamDestroy(native_);
}

PINION_DECL void stream::enqueue(std::function<void()>) {
  throw error(errc::internal, "host code was put into a stream of " + card_->device() + ", whose kernels are CUDA");
}

PINION_DECL void stream::when_reached(completion<> callback) {
  auto recorded = outcome_of([&] {
    card_->enter();
    auto point = card_->event();
    card_->expect(cudaEventRecord(point.get(), native_), "cudaEventRecord");
    return point;
  });
  if (is_behind_fork()) return callback(std::move(recorded).then([](const auto&) {}));  // the thread is not there
  callbacks_.post([this, card = card_, callback = std::move(callback), recorded = std::move(recorded)]() mutable {
    callback(std::move(recorded).then([&](const std::shared_ptr<CUevent_st>& point) {
      card->enter();  // else the thread's calls would make a context on the first GPU of the machine
      card->expect(detail::await(point.get(), looks_), "a kernel or a copy");
    }));
  });
}

PINION_DECL std::shared_ptr<devices::event> stream::record() {
  card_->enter();
  auto point = card_->event();
  card_->expect(cudaEventRecord(point.get(), native_), "cudaEventRecord");
  return std::make_shared<event>(std::move(point));
}

PINION_DECL void stream::wait(std::shared_ptr<devices::event> point) {
  card_->enter();
  card_->expect(cudaStreamWaitEvent(native_, static_cast<const event&>(*point).native(), 0), "cudaStreamWaitEvent");
}

PINION_DECL std::shared_ptr<devices::mark> stream::mark() {
  card_->enter();
  auto base = card_->base();
  auto at = card_->timed_event();
  card_->expect(cudaEventRecord(at.get(), native_), "cudaEventRecord");
  return std::make_shared<cuda::mark>(*card_, std::move(at), std::move(base));
}

PINION_DECL void stream::synchronize() {
  card_->enter();
  card_->expect(cudaStreamSynchronize(native_), "a kernel or a copy");
}

PINION_DECL devices::cuda_stream stream::native() {
  card_->enter();
  const detail::recording& recording = detail::recording::of_this_thread();
  return recording.of == this ? recording.by : native_;
}

PINION_DECL bool stream::begin_recording() {
  card_->enter();
  detail::recording& recording = detail::recording::of_this_thread();
  if (recording.of) return false;
  cudaStream_t by = nullptr;
  card_->expect(cudaStreamCreateWithFlags(&by, cudaStreamNonBlocking), "cudaStreamCreate");
  // Relaxed: allocations of this thread go to the stream itself, which is not being captured.
  if (const cudaError_t failed = cudaStreamBeginCapture(by, cudaStreamCaptureModeRelaxed)) {
    cudaStreamDestroy(by);
    card_->expect(failed, "cudaStreamBeginCapture");
  }
  recording = {this, by};
  return true;
}

PINION_DECL std::unique_ptr<devices::recorded_work> stream::end_recording() {
  const detail::recording recording = std::exchange(detail::recording::of_this_thread(), {});
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  cudaError_t how = cudaStreamEndCapture(recording.by, &graph);
  if (!how) how = cudaGraphInstantiate(&ready, graph, 0);
  if (graph) cudaGraphDestroy(graph);
  cudaStreamDestroy(recording.by);
  if (how) return cudaGetLastError(), nullptr;
  return std::make_unique<recorded_graph>(card_, native_, ready);
}

}}}  // namespace pinion::v0::cuda
