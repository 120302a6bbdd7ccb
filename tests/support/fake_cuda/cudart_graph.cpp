// The stand-in for CUDA: streams that are captured, and graphs that are launched.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "machine.hpp"
#include "misuse.hpp"
#include "order.hpp"

using namespace fake_cuda;

namespace {

// Ends the capture of all streams of a graph.
void release_streams(CUgraph_st& graph) {
  for (const auto& [stream, unused] : graph.branches)
    if (const auto live = find(stream)) live->captured_into = nullptr;
  graph.origin = nullptr;
}

bool is_joined(const CUgraph_st& graph, cudaStream_t origin) {
  return std::all_of(graph.branches.begin(), graph.branches.end(), [=](const auto& branch) {
    return branch.first == origin || branch.second.tasks == branch.second.waited_for;
  });
}

cudaError_t end_capture(CUgraph_st& graph, CUstream_st& stream) {
  if (graph.origin != &stream)
    return misuse(cudaErrorStreamCaptureUnmatched, "a capture ends on a stream on which it did not begin");
  if (graph.mode != cudaStreamCaptureModeRelaxed && graph.begun_by != std::this_thread::get_id())
    return misuse(cudaErrorStreamCaptureWrongThread, "a capture ends on a thread on which it did not begin");
  release_streams(graph);
  if (graph.is_invalid) return cudaErrorStreamCaptureInvalidated;
  if (!is_joined(graph, &stream))
    return misuse(cudaErrorStreamCaptureUnjoined, "a capture ends before its first stream has waited for the others");
  return cudaSuccess;
}

std::shared_ptr<CUgraphExec_st> find(cudaGraphExec_t handle) {
  own_lock lock(the_machine().mutex);
  const auto found = the_machine().graph_execs.find(handle);
  return found == the_machine().graph_execs.end() ? nullptr : found->second;
}

// True if all memory of a graph is still there; reports what is not.
bool has_its_memory(const CUgraphExec_st& graph) {
  own_lock lock(the_machine().mutex);
  for (const void* const address : graph.addresses) {
    const memory_block* const block = the_machine().memory.find(address);
    if (block && !block->is_freed) continue;
    report("a graph is launched that uses " + describe(block, address));
    return false;
  }
  return true;
}

// Does what was captured, on the thread of a stream.
void run(CUgraphExec_st& graph, const device& on) {
  std::lock_guard lock(graph.mutex);
  for (const task& next : graph.tasks)
    if (next.also_after_fault || on.fault == cudaSuccess) next.work();
  leave_for(&graph);
}

}  // namespace

CUgraphExec_st::~CUgraphExec_st() {
  come_after(this);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return on_stream(handle, [&](CUstream_st& stream) {
    if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread)
      return cudaErrorStreamCaptureUnsupported;
    if (stream.captured_into) return misuse(cudaErrorIllegalState, "a stream is captured that is captured already");
    auto graph = std::make_unique<CUgraph_st>();
    graph->origin = handle, graph->mode = mode, graph->begun_by = std::this_thread::get_id();
    graph->branches[handle];
    stream.captured_into = graph.get();
    own_lock lock(the_machine().mutex);
    the_machine().graphs.emplace(graph.get(), std::move(graph));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* result_graph) {
  return on_stream(handle, [&](CUstream_st& stream) {
    *result_graph = nullptr;
    CUgraph_st* const graph = stream.captured_into;
    if (!graph) return misuse(cudaErrorIllegalState, "a capture ends on a stream that is not captured");
    const cudaError_t error = end_capture(*graph, stream);
    if (error == cudaSuccess)
      *result_graph = graph;
    else if (!graph->origin)
      cudaGraphDestroy(graph);
    return error;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return on_stream(handle, [&](CUstream_st& stream) {
    const CUgraph_st* const graph = stream.captured_into;
    *status = !graph              ? cudaStreamCaptureStatusNone
              : graph->is_invalid ? cudaStreamCaptureStatusInvalidated
                                  : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return on_device(current_device(), [&](device&) {
    own_lock lock(the_machine().mutex);
    if (the_machine().graphs.erase(graph) == 1) return cudaSuccess;
    return misuse(cudaErrorInvalidValue, "a graph is destroyed that is destroyed already, or never was");
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  return on_device(current_device(), [&](device&) {
    machine& m = the_machine();
    own_lock lock(m.mutex);
    const auto found = m.graphs.find(graph);
    if (found == m.graphs.end() || found->second->origin)
      return misuse(cudaErrorInvalidValue, "a graph is instantiated that is destroyed, or is captured still");
    auto made = std::make_shared<CUgraphExec_st>();
    made->tasks = found->second->tasks, made->addresses = found->second->addresses;
    *exec = made.get();
    m.graph_execs.emplace(*exec, std::move(made));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t on) {
  return on_stream(on, [&](CUstream_st& stream) {
    const std::shared_ptr<CUgraphExec_st> graph = find(handle);
    if (!graph) return misuse(cudaErrorInvalidValue, "a graph is launched that is destroyed, or never was");
    if (stream.captured_into) return misuse(cudaErrorNotSupported, "the stand-in captures no launches of graphs");
    if (!has_its_memory(*graph)) return cudaErrorInvalidValue;
    stream.push({[graph, &device = stream.on()] { run(*graph, device); }});
    return cudaSuccess;
  });
}

// Launches that stand in streams go on.
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  return on_device(current_device(), [&](device&) {
    own_lock lock(the_machine().mutex);
    if (the_machine().graph_execs.erase(handle) == 1) return cudaSuccess;
    return misuse(cudaErrorInvalidValue, "a graph is destroyed that is destroyed already, or never was");
  });
}
