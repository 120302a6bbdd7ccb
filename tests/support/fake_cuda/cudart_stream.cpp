// The stand-in for CUDA: streams and events.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "machine.hpp"

using namespace fake_cuda;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return on_device(current_device(), [&](device& d) {
    auto made = std::make_shared<CUstream_st>(d, ++the_machine().streams_ever);
    *stream = made.get();
    own_lock lock(the_machine().mutex);
    the_machine().streams.emplace(*stream, std::move(made));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return result(refused());
}

// Waits for the stream's tasks, which CUDA would let finish by themselves.
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  if (const cudaError_t error = refused()) return result(error);
  std::shared_ptr<CUstream_st> stream;
  {
    own_lock lock(the_machine().mutex);
    const auto node = the_machine().streams.extract(handle);
    if (!node.empty()) stream = std::move(node.mapped());
  }
  if (!stream)
    return misuse(cudaErrorInvalidResourceHandle, "a stream is destroyed that is destroyed already, or never was");
  stream->wait_for_all();
  return result(stream->on().fault);
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return on_stream(handle, [](CUstream_st& stream) {
    if (const cudaError_t error = refused_by_capture(stream)) return error;
    stream.wait_for_all();
    trim_pools(stream.on().id);
    return stream.on().fault.load();
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return on_stream(handle, [](CUstream_st& stream) {
    if (const cudaError_t error = refused_by_capture(stream)) return error;
    return stream.is_idle() ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return on_stream(handle, [&](CUstream_st& stream) {
    *device = stream.on().id;
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* argument) {
  return on_stream(handle, [&](CUstream_st& stream) {
    stream.push({[=] {
      is_in_host_function() = true;
      function(argument);
      is_in_host_function() = false;
    }});
    return cudaSuccess;
  });
}

namespace {

bool is_captured(CUgraph_st* graph) {
  own_lock lock(the_machine().mutex);
  return the_machine().graphs.contains(graph) && graph->origin;
}

// A stream that waits for a captured event joins the capture; one that is captured may wait for no other event.
cudaError_t wait_in_capture(CUstream_st& stream, const CUevent_st& event) {
  CUgraph_st* const graph = event.captured.graph;
  CUgraph_st* const into = stream.captured_into;
  if (!is_captured(graph) || (into && into != graph)) {
    if (into) into->is_invalid = true;
    return misuse(cudaErrorStreamCaptureIsolation, "a stream waits for an event that is not of its capture");
  }
  stream.captured_into = graph;
  graph->branches[&stream];
  CUgraph_st::branch& waited_for = graph->branches[event.captured.stream];
  waited_for.waited_for = std::max(waited_for.waited_for, event.captured.tasks);
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t of, unsigned) {
  return on_stream(handle, [&](CUstream_st& stream) {
    const std::shared_ptr<CUevent_st> event = find(of);
    if (!event) return misuse(cudaErrorInvalidResourceHandle, "a stream waits for an event that is destroyed");
    if (event->captured.graph || stream.captured_into) return wait_in_capture(stream, *event);
    const std::uint64_t number = event->latest();
    if (number > 0) stream.push({[=] { event->wait(number); }, true});
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return on_device(current_device(), [&](device& d) {
    auto made = std::make_shared<CUevent_st>(d.id, flags);
    *event = made.get();
    own_lock lock(the_machine().mutex);
    the_machine().events.emplace(*event, std::move(made));
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  if (const cudaError_t error = refused()) return result(error);
  std::shared_ptr<CUevent_st> event;
  {
    own_lock lock(the_machine().mutex);
    const auto node = the_machine().events.extract(handle);
    if (!node.empty()) event = std::move(node.mapped());
  }
  if (event) return cudaSuccess;
  return misuse(cudaErrorInvalidResourceHandle, "an event is destroyed that is destroyed already, or never was");
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t on) {
  return on_event(handle, [&](const std::shared_ptr<CUevent_st>& event) {
    const std::shared_ptr<CUstream_st> stream = find(on);
    if (!stream) return misuse(cudaErrorInvalidResourceHandle, "an event is recorded on a stream that is destroyed");
    if (stream->on().id != event->device)
      return misuse(cudaErrorInvalidResourceHandle, "an event of device " + std::to_string(event->device) +
                                                        " is recorded on a stream of device " +
                                                        std::to_string(stream->on().id));
    event->captured = {};
    if (CUgraph_st* const graph = stream->captured_into) {
      event->captured = {graph, stream.get(), graph->branches[stream.get()].tasks};
      return cudaSuccess;
    }
    const std::uint64_t number = event->begin_record();
    stream->push({[=] { event->reach(number); }, true});
    return cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return on_event(handle, [](const std::shared_ptr<CUevent_st>& event) {
    if (event->captured.graph) return misuse(cudaErrorCapturedEvent, "somebody asks for an event of a capture");
    return event->is_reached(event->latest()) ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return on_event(handle, [](const std::shared_ptr<CUevent_st>& event) {
    if (event->captured.graph) return misuse(cudaErrorCapturedEvent, "somebody waits for an event of a capture");
    event->wait(event->latest());
    trim_pools(event->device);
    return the_machine().devices[static_cast<std::size_t>(event->device)]->fault.load();
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return on_event(start, [&](const std::shared_ptr<CUevent_st>& first) {
    const std::shared_ptr<CUevent_st> last = find(end);
    if (!last) return misuse(cudaErrorInvalidResourceHandle, "time is asked up to an event that is destroyed");
    for (const CUevent_st* event : {first.get(), last.get()})
      if ((event->flags & cudaEventDisableTiming) != 0)
        return misuse(cudaErrorInvalidResourceHandle, "time is asked of an event that takes none");
    if (first->latest() == 0 || last->latest() == 0)
      return misuse(cudaErrorInvalidResourceHandle, "time is asked of an event that was never recorded");
    if (!first->is_reached(first->latest()) || !last->is_reached(last->latest())) return cudaErrorNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(last->time() - first->time()).count();
    return cudaSuccess;
  });
}
