// Bodies of machine.hpp and of control.hpp.
#include "machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "misuse.hpp"

namespace fake_cuda {

namespace {

unsigned number_in_environment(const char* name, unsigned otherwise) {
  const char* const text = std::getenv(name);
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

void make_devices(machine& m) {
  for (int id = 0; id < m.now.devices; ++id) m.devices.push_back(std::make_unique<device>(id));
}

}  // namespace

settings::settings()
    : jitter_us(number_in_environment("PINION_FAKE_JITTER_US", 0)),
      seed(number_in_environment("PINION_FAKE_SEED", 1)),
      order(thread_order::forward) {
  const char* const text = std::getenv("PINION_FAKE_ORDER");
  if (text && std::string_view(text) == "backward") order = thread_order::backward;
}

machine& the_machine() {
  static machine& it = *[] {
    auto* const made = new machine;
    make_devices(*made);
    return made;
  }();
  return it;
}

void reset(const settings& now) {
  machine& m = the_machine();
  m.streams.clear();
  m.devices.clear();
  m.events.clear();
  m.memory.clear();
  m.pools.clear();
  m.graphs.clear();
  m.graph_execs.clear();
  m.since_reset = {};
  m.allocations_until_failure = 0;
  m.refused_code.clear();
  ++m.resets;
  m.now = now;
  make_devices(m);
  take_misuses();
}

void fault_next_launch(int id, cudaError_t error) {
  the_machine().devices.at(static_cast<std::size_t>(id))->next_fault = error;
}

void refuse(code which) {
  own_lock lock(the_machine().mutex);
  the_machine().refused_code.insert(which);
}

void fail_allocation(int n) {
  own_lock lock(the_machine().mutex);
  the_machine().allocations_until_failure = n;
}

counts count() {
  machine& m = the_machine();
  own_lock lock(m.mutex);
  counts all = m.since_reset;
  for (const auto& [unused, block] : m.memory) {
    ++(block.device == memory_block::host ? all.pinned_blocks : all.device_blocks);
    if (block.device != memory_block::host) all.device_bytes += block.size;
  }
  all.streams = static_cast<int>(m.streams.size());
  all.events = static_cast<int>(m.events.size());
  all.pools = static_cast<int>(m.pools.size());
  all.graphs = static_cast<int>(m.graphs.size() + m.graph_execs.size());
  all.libraries = static_cast<int>(m.libraries.size());
  for (const auto& d : m.devices) all.contexts += d->has_context;
  return all;
}

namespace {

struct thread_words {
  unsigned resets = 0;  // before which the others were set
  int device = 0;
  cudaError_t last = cudaSuccess;
};

thread_words& words_of_thread() {
  thread_local thread_words words;
  if (words.resets != the_machine().resets) words = {the_machine().resets};
  return words;
}

}  // namespace

int current_device() {
  return words_of_thread().device;
}

void set_current_device(int id) {
  words_of_thread().device = id;
}

bool& is_in_host_function() {
  thread_local bool is = false;
  return is;
}

cudaError_t result(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) words_of_thread().last = error;
  return error;
}

cudaError_t take_last_error(bool also_forget) {
  const machine& m = the_machine();
  if (current_device() < m.now.devices)
    if (const cudaError_t fault = m.devices[static_cast<std::size_t>(current_device())]->fault) return fault;
  return also_forget ? std::exchange(words_of_thread().last, cudaSuccess) : words_of_thread().last;
}

cudaError_t misuse(cudaError_t error, const std::string& sentence) {
  report(sentence);
  return result(error);
}

bool is_reachable(const memory_block& block, const device& from) {
  if (block.device == memory_block::host || block.device == from.id) return true;
  return block.pool ? block.pool->peers.contains(from.id) : from.peers.contains(block.device);
}

void trim_pools(int device) {
  machine& m = the_machine();
  own_lock lock(m.mutex);
  const auto trim = [](CUmemPoolHandle_st& pool) {
    pool.reserved = std::max(pool.used, std::min(pool.reserved, pool.threshold));
  };
  trim(m.devices[static_cast<std::size_t>(device)]->own_pool);
  for (const auto& [unused, pool] : m.pools)
    if (pool->device == device) trim(*pool);
}

void make_context(int device) {
  machine& m = the_machine();
  if (device < m.now.devices) m.devices[static_cast<std::size_t>(device)]->has_context = true;
}

cudaError_t refused() {
  if (is_in_host_function()) return misuse(cudaErrorNotPermitted, "a host function in a stream calls CUDA");
  switch (the_machine().now.is) {
    case driver::missing:
    case driver::old: return cudaErrorInsufficientDriver;
    case driver::without_devices: return cudaErrorNoDevice;
    case driver::present: break;
  }
  return cudaSuccess;
}

namespace {

std::shared_ptr<CUstream_st> default_stream() {
  machine& m = the_machine();
  device& d = *m.devices[static_cast<std::size_t>(current_device())];
  {
    own_lock lock(m.mutex);
    if (d.default_stream) return d.default_stream;
  }
  auto made = std::make_shared<CUstream_st>(d, 0);
  own_lock lock(m.mutex);
  if (!d.default_stream) d.default_stream.swap(made);
  return d.default_stream;
}

}  // namespace

std::shared_ptr<CUstream_st> find(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread) return default_stream();
  machine& m = the_machine();
  own_lock lock(m.mutex);
  const auto found = m.streams.find(handle);
  return found == m.streams.end() ? nullptr : found->second;
}

void note_address(CUstream_st& stream, const void* address) {
  CUgraph_st* const graph = stream.captured_into;
  if (graph && the_machine().memory.find(address)) graph->addresses.push_back(address);
}

cudaError_t refused_by_capture() {
  machine& m = the_machine();
  own_lock lock(m.mutex);
  for (const auto& [unused, graph] : m.graphs) {
    const bool concerns_thread =
        graph->mode == cudaStreamCaptureModeGlobal ||
        (graph->mode == cudaStreamCaptureModeThreadLocal && graph->begun_by == std::this_thread::get_id());
    if (!graph->origin || !concerns_thread) continue;
    graph->is_invalid = true;
    return misuse(cudaErrorStreamCaptureUnsupported, "a call is made that no stream allows while it is captured");
  }
  return cudaSuccess;
}

cudaError_t refused_by_capture(CUstream_st& stream) {
  CUgraph_st* const graph = stream.captured_into;
  if (!graph) return cudaSuccess;
  graph->is_invalid = true;
  return misuse(cudaErrorStreamCaptureUnsupported, "somebody waits for a stream that is captured");
}

std::shared_ptr<CUevent_st> find(cudaEvent_t handle) {
  machine& m = the_machine();
  own_lock lock(m.mutex);
  const auto found = m.events.find(handle);
  return found == m.events.end() ? nullptr : found->second;
}

}  // namespace fake_cuda
