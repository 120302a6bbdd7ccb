// The options of a session.
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/security_options.hpp>
#include <pinion/device/gpu_options.hpp>
#include <pinion/graph/graph.hpp>
#include <pinion/placement/any_placer.hpp>

namespace pinion { inline namespace v0 {

// A destination for lines of text: a stream, which must outlive the sink, or a function, which the sink copies. The
// sink adds the newline for a stream; a function gets the line without one. It adds no lock: threads that write through
// one sink call the function, or write to the stream, at the same time.
//
// An empty sink must not be called.
//
//   pn::session logs({.log_device_placement = true, .placement_log = [](std::string_view line) { log(line); }});
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

// The options of a session, copied when it is made. Options that describe devices and threads hold for a session of
// this process; a session on a cluster uses those that each task's server was given in server_config.
//
//   pn::session sess({.graph = &g, .inter_op_threads = 1, .operation_timeout = std::chrono::seconds(5)});
//
// Fewer than one CPU device count as one. Durations are of std::chrono, so .operation_timeout = 30s. It limits a run(),
// and before that also how long a session waits for its target, and for the tasks that its steps need, to come up,
// unless startup_timeout says how long that may take: tasks may take long to come up where steps are short. After
// either the call throws deadline_exceeded, which says, of a session on a cluster, for whom it waited, how long, and
// what was last tried. A session that waits says so in the log after a second, and again every ten.
//
// A device of a step receives the values of other devices before they are needed, but of the values that have come and
// wait for their first readers only receive_ahead bytes: a worker that reads all variables of a large model does not
// hold them all at once. A step that receives less is as it would be without the limit. A plan notes where it tells.
// memory_limit has a step compute values again that it wants late, rather than keep them, where it would need more
// bytes on a device: for the variables and the values that are in use at once. The session chooses which, for as few
// operations as fit; results are the same. It counts by the shapes that are known when a step is first run. A plan
// notes what was chosen; where nothing suffices, a warning in the log says how far it came, and the step runs. It is
// one of sessions of one process: on a cluster it is unimplemented.
//
// bfloat16_transfers rounds all floats that cross from task to task, parameters on their way to workers and gradients
// on their way into updates too; variables keep their bits. Whether a model bears that is for its user to decide.
//
// check_values looks at all floating-point values of each step. The first node in which a NaN or an infinity comes to
// be fails its step with invalid_argument. The error names the node, its line, device and task, the elements, and the
// inputs with their ranges; of a node that is a whole statement, the operation too. A NaN is blamed wherever it comes
// from. An infinity is allowed in a constant, a feed, a variable, an element of a queue, such as a mask, and in what a
// node makes of one. An update that makes a bad value has written it. Such a step is not optimized, writes no variable
// in place, and waits for each node of a GPU, so it takes several times as long; the steps of other sessions cost what
// they cost without the option. run_request::check_values does so for one step.
//
//   pn::session one_thread({.inter_op_threads = 1, .intra_op_threads = 1});       // everything in the calling thread
//   pn::session far({.target = "pinion://10.0.0.1:2222", .allow_soft_placement = true, .security = {.key = secret}});
struct session_options {
  std::string target = {};            // "": this process; "pinion://host:port": the master on that task
  pinion::graph* graph = nullptr;     // null: the default graph of the thread that makes the session
  bool allow_soft_placement = false;  // if no device meets a request: true ignores parts of it, false throws
  any_placer placer = {};             // decides the device of each node; a cluster's task has its own
  bool record_costs = false;          // times every node, for session::measured_costs()
  bool log_device_placement = false;  // writes a line per node when it is placed
  text_sink placement_log = {};       // receives those lines; empty: standard output
  int cpu_devices = 1;                // number of devices /cpu:0, /cpu:1, ...
  int inter_op_threads = 0;           // threads that run independent nodes; 0: one per core, 1: the caller only
  int intra_op_threads = 0;           // threads that share the loops inside a node; same rule
  std::chrono::milliseconds startup_timeout{0};    // limit of the wait for tasks to come up; 0: operation_timeout
  std::chrono::milliseconds operation_timeout{0};  // limit of one run(); 0: none
  // Device strings, such as "/job:ps": a session on a cluster uses only tasks that match one of them; empty: all tasks.
  std::vector<std::string> device_filters = {};
  gpu_options gpu = {};                                 // which GPUs are visible, and how much memory they offer
  std::vector<sim::accelerator> simulated = {};         // simulated accelerators, and then no GPUs: /gpu:0, /gpu:1, ...
  security_options security = {};                       // presented to the target
  std::int64_t receive_ahead = std::int64_t{64} << 20;  // bytes a device receives ahead of readers; 0: no limit
  bool optimize = true;  // folds constants, shares and joins nodes of a step; values stay the same up to rounding
  std::int64_t memory_limit = 0;    // bytes of a step on each device; 0: no limit
  bool bfloat16_transfers = false;  // floats go between tasks of a cluster in half of their bytes, rounded to bfloat16
  bool check_values = false;        // a step fails at the first node that makes a NaN or an infinity, and names it
};

// Writes a line about placement to the session's placement_log, or to standard output if that is empty.
//
// A line has no newline, as text_sink expects it.
void log_placement(const session_options& options, const std::string& line);

// Returns "host:port" of "pinion://host:port". Throws invalid_argument for a target of another form.
//
// The sentence of the error says what to write.
std::string address_of_target(const std::string& target);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/runtime/options.ipp>
#endif
