// What a session is made with.
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/device/gpu_options.hpp>
#include <pinion/graph/graph.hpp>
#include <pinion/placement/any_placer.hpp>

namespace pinion { inline namespace v0 {

// Where lines of text go: a stream, which must outlive it, or a function.
class text_sink {
 public:
  text_sink() = default;
  text_sink(std::ostream& stream);
  text_sink(std::ostream* stream) : text_sink(*stream) {}
  template <class F>
  requires(std::is_invocable_v<F&, std::string_view> && !std::is_same_v<std::remove_cvref_t<F>, text_sink>)
      text_sink(F&& write)
      : write_(std::forward<F>(write)) {}

  explicit operator bool() const { return bool(write_); }
  void operator()(std::string_view line) const { write_(line); }

 private:
  std::function<void(std::string_view)> write_;
};

// What proves to a task that it may be spoken to.
struct security_options {
  std::string key = {};  // shared by all tasks and clients of a cluster; empty: none, for loopback only
};

struct session_options {
  std::string target = {};            // "" this process, or "pinion://host:port"
  pinion::graph* graph = nullptr;     // null: the default graph of the thread that makes the session
  bool allow_soft_placement = false;  // may a request that no device meets be loosened? (fallback, or strict)
  any_placer placer = {};             // of this process; a task of a cluster has its own in server_config
  bool record_costs = false;          // time every node, for session::measured_costs()
  bool log_device_placement = false;  // a line per node when it is placed
  text_sink placement_log = {};       // where; standard output if empty
  int cpu_devices = 1;                // of this process; those of a cluster are in each task's server_config
  int inter_op_threads = 0;           // for nodes beside each other; 0: one a core, 1: only the caller's
  int intra_op_threads = 0;           // for loops inside a node; likewise
  std::chrono::milliseconds operation_timeout{0};  // of one run(); 0: no limit
  std::vector<std::string> device_filters = {};
  gpu_options gpu = {};                          // of this process; simulated GPUs only, so far
  std::vector<sim::accelerator> simulated = {};  // pretend accelerators of the machine: /gpu:0, /gpu:1, ...
  security_options security = {};                // towards the target
  bool optimize = true;  // fold constants, share and join nodes of a step before it runs; values stay, up to rounding
};

// Writes a line about placement to where the session wants it.
void log_placement(const session_options& options, const std::string& line);

// "host:port" of "pinion://host:port"; throws invalid_argument for a target of another form.
std::string address_of_target(const std::string& target);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/runtime/options.ipp>
#endif
