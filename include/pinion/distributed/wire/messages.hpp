// The messages between tasks: one struct per message, with its method number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/fingerprint.hpp>
#include <pinion/distributed/wire/graph.hpp>
#include <pinion/distributed/wire/report.hpp>
#include <pinion/distributed/wire/run_id.hpp>
#include <pinion/distributed/wire/step.hpp>
#include <pinion/distributed/wire/subgraph.hpp>
#include <pinion/opkit/transfer_key.hpp>
#include <pinion/rpc/failure.hpp>
#include <pinion/rpc/typed.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

using rpc::method;
using rpc::nothing;

// A message has its fields in the order in which they go over the wire, and their names.
#define PINION_MESSAGE(number, ...)                        \
  static constexpr rpc::method method = number;            \
  static constexpr std::string_view fields = #__VA_ARGS__; \
  template <class Archive>                                 \
  void serialize([[maybe_unused]] Archive& archive) {      \
    archive(__VA_ARGS__);                                  \
  }

// ---- shapes that several messages share
//
// A message that brings values is a template, so that its receiver may look at descriptions of them before it takes
// memory for them.

// A message that says no more than its number.
template <rpc::method Number>
struct bare {
  std::uint8_t unused = 0;
  PINION_MESSAGE(Number, unused)
};
template <rpc::method Number>
struct about_session {
  std::uint64_t session = 0;
  PINION_MESSAGE(Number, session)
};
// The value with that key, which one task sends to another in a run.
template <rpc::method Number>
struct about_value {
  run_id run;
  transfer_key key;
  PINION_MESSAGE(Number, run, key)
};
template <rpc::method Number>
struct about_devices {
  std::vector<device_info> devices;
  PINION_MESSAGE(Number, devices)
};
template <rpc::method Number>
struct about_containers {
  std::vector<std::string> containers;  // empty: all containers
  PINION_MESSAGE(Number, containers)
};
// Is the graph there that was named by its fingerprint? If not, nothing was done, and the graph is to be sent.
template <rpc::method Number>
struct about_known {
  bool known = false;
  PINION_MESSAGE(Number, known)
};

// ---- to any task

// Asks a task for its devices.
using status_request = bare<1>;
using status_reply = about_devices<1>;

// Asks the task to stop. The reply says how long that may take.
using shutdown_request = bare<2>;
struct shutdown_reply {
  std::uint64_t within_ms = 0;
  PINION_MESSAGE(2, within_ms)
};

// Asks a task for the libraries of its GPUs, which it opens; see device_info.
using libraries_request = bare<3>;
struct libraries_reply {
  std::vector<std::string> libraries;
  PINION_MESSAGE(3, libraries)
};

// Asks a task for its state.
using report_request = bare<4>;
struct report_reply {
  task_report report;
  PINION_MESSAGE(4, report)
};

// Tells an elastic task where another is reached, which has said so to the sender.
struct introduce_task {
  std::string task, address;
  std::uint64_t incarnation = 0;
  PINION_MESSAGE(5, task, address, incarnation)
};

// ---- from a master to a worker

// The part of a step that a worker computes, kept under (session, step) until the session ends.
struct register_step {
  session_id session;
  std::uint64_t step = 0;
  subgraph part;
  std::vector<std::pair<std::string, std::uint64_t>> peers;  // other tasks of the step, each with its incarnation
  bool soft = false;  // if no device meets a request in a body: may it be ignored?
  PINION_MESSAGE(10, session, step, part, peers, soft)
};
// Registers a step by the fingerprint of its nodes, at a worker that may hold them.
struct register_known {
  session_id session;
  std::uint64_t step = 0;
  fingerprint nodes;
  std::vector<runtime::partition> parts;
  std::vector<std::pair<std::string, std::uint64_t>> peers;
  bool soft = false;
  PINION_MESSAGE(16, session, step, nodes, parts, peers, soft)
};
using registered_known = about_known<16>;
// Starts a worker's part of a run. The answer comes when that part has ended.
struct run_step {
  run_id run;
  std::uint64_t step = 0;
  bool trace = false;
  PINION_MESSAGE(11, run, step, trace)
};
struct part_ended {
  std::vector<std::string> notices;  // shown to the users of the session
  step_trace trace = {};             // empty unless it was asked for
  shared_error failure = {};         // of a part that failed and has a trace; null: it ended well
  bool holds = false;                // does the worker wait for settle_run, or cancel_run?
  PINION_MESSAGE(11, notices, trace, failure, holds)
};
// Cancels one run on a worker. It may arrive before the run, and after its part has ended.
struct cancel_run {
  run_id run;
  error why = error(errc::cancelled, "");
  PINION_MESSAGE(12, run, why)
};
// Tells a worker that a run has ended well: what its part has taken from queues is used up.
struct settle_run {
  run_id run;
  PINION_MESSAGE(17, run)
};
// Asks a worker how far its part of a run is, which has not ended.
struct progress_request {
  run_id run;
  PINION_MESSAGE(15, run)
};
struct progress_reply {
  std::uint64_t ms = 0;            // since it began
  std::vector<std::string> nodes;  // some of the nodes that are under way, each as "'name' (op)"
  PINION_MESSAGE(15, ms, nodes)
};
// Drops the steps of a session on a worker.
struct forget_session {
  session_id session;
  PINION_MESSAGE(13, session)
};
// Clears containers on one worker.
using reset_containers = about_containers<14>;

// ---- between workers

// A value that its sender pushes because it fits the credit. A control edge is a value without a tensor.
template <class Value>
struct push_of {
  run_id run;
  transfer_key key;
  Value value;
  PINION_MESSAGE(20, run, key, value)
};
using push_value = push_of<any_tensor>;
// The announcement of a value that waits at its sender until it is pulled.
using announce_value = about_value<21>;
// Asks the sender for an announced value.
using pull_value = about_value<22>;
template <class Value>
struct pulled_of {
  Value value;
  PINION_MESSAGE(22, value)
};
using pulled_value = pulled_of<any_tensor>;
// Returns credit: the number of pushed bytes that the receiver has taken.
struct return_credit {
  std::uint64_t bytes = 0;
  PINION_MESSAGE(23, bytes)
};

// ---- from a client to a master

// Opens a session at a master; the reply holds its handle.
struct open_session {
  bool soft = false;
  std::vector<std::string> filters;
  bool optimize = true;
  std::int64_t receive_ahead = 0;
  bool narrow = false;  // do floats go from task to task as bfloat16?
  PINION_MESSAGE(30, soft, filters, optimize, receive_ahead, narrow)
};
using opened_session = about_session<30>;
// Extends the master's replica of a session's graph.
struct extend_graph {
  std::uint64_t session = 0;
  graph_delta delta;
  PINION_MESSAGE(37, session, delta)
};
// Extends the replica by the fingerprint of a delta, which may have come before, behind the same beginning.
struct extend_known {
  std::uint64_t session = 0;
  fingerprint delta;
  PINION_MESSAGE(39, session, delta)
};
using extended_known = about_known<39>;
// Asks the master to place, cut and ship a step. The reply holds its number.
struct prepare_step {
  std::uint64_t session = 0;
  std::uint64_t max_wait_ms = 0;  // 0: no limit
  runtime::step_signature signature;
  bool lines = false;            // should the reply hold a line for each newly placed node?
  std::uint64_t startup_ms = 0;  // limit of the wait for the step's tasks, after which max_wait_ms begins
  bool partial = false;          // is the step one that is fed and fetched in several calls?
  PINION_MESSAGE(31, session, max_wait_ms, signature, lines, startup_ms, partial)
};
struct prepared_reply {
  std::uint64_t step = 0;
  std::vector<std::string> placed;  // a line for each newly placed node, if asked for
  PINION_MESSAGE(31, step, placed)
};
// Asks the master for the plan of a step; nothing is shipped.
struct plan_step {
  std::uint64_t session = 0;
  std::uint64_t max_wait_ms = 0;
  runtime::step_signature signature;
  std::uint64_t startup_ms = 0;
  PINION_MESSAGE(32, session, max_wait_ms, signature, startup_ms)
};
struct plan_reply {
  pinion::plan plan;
  PINION_MESSAGE(32, plan)
};
// Runs a prepared step. The reply comes when the run has ended.
template <class Value>
struct run_prepared_of {
  std::uint64_t session = 0, step = 0;
  std::uint64_t max_wait_ms = 0;
  std::vector<Value> feeds;
  bool trace = false;
  PINION_MESSAGE(33, session, step, max_wait_ms, feeds, trace)
};
using run_prepared = run_prepared_of<any_tensor>;
struct run_reply {
  std::vector<any_tensor> fetches;
  std::vector<std::string> notices;
  step_trace trace = {};
  shared_error failure = {};  // as in part_ended
  PINION_MESSAGE(33, fetches, notices, trace, failure)
};
// Begins a partial run of a prepared step, and is answered with its number.
struct begin_partial_run {
  std::uint64_t session = 0, step = 0;
  std::uint64_t max_wait_ms = 0;
  PINION_MESSAGE(40, session, step, max_wait_ms)
};
struct partial_run_begun {
  std::uint64_t run = 0;
  PINION_MESSAGE(40, run)
};
// A call of a partial run: feeds values, and asks for fetches and targets, all by their numbers in the signature of the
// step. The reply comes when they are there.
struct continue_partial_run {
  std::uint64_t session = 0, run = 0;
  std::uint64_t max_wait_ms = 0;
  std::vector<std::uint64_t> feeds, fetches, targets;
  std::vector<any_tensor> values;
  PINION_MESSAGE(41, session, run, max_wait_ms, feeds, fetches, targets, values)
};
struct partial_run_continued {
  std::vector<any_tensor> fetches;
  std::vector<std::string> notices;
  PINION_MESSAGE(41, fetches, notices)
};
// Forgets a partial run, and cancels what of it has not run.
struct end_partial_run {
  std::uint64_t session = 0, run = 0;
  PINION_MESSAGE(42, session, run)
};
// Asks the master for the devices that a session may use.
struct list_request {
  std::uint64_t session = 0, startup_ms = 0;
  PINION_MESSAGE(34, session, startup_ms)
};
using list_reply = about_devices<34>;
// Closes a session at its master, and forgets it on every task.
using close_session = about_session<35>;
// Cancels the running steps of a session, which stays open.
struct cancel_runs {
  std::uint64_t session = 0;
  error why = error(errc::cancelled, "");
  PINION_MESSAGE(38, session, why)
};
// Clears containers on every task, and closes the sessions of this master.
using reset_request = about_containers<36>;

#undef PINION_MESSAGE

}}}  // namespace pinion::v0::distributed

// The compiled library holds the code that writes and reads these messages.
#define PINION_EACH_MESSAGE(X) \
  X(status_request)            \
  X(status_reply)              \
  X(shutdown_request)          \
  X(shutdown_reply)            \
  X(libraries_request)         \
  X(libraries_reply)           \
  X(report_request)            \
  X(report_reply)              \
  X(introduce_task)            \
  X(register_step)             \
  X(register_known)            \
  X(registered_known)          \
  X(run_step)                  \
  X(part_ended)                \
  X(cancel_run)                \
  X(settle_run)                \
  X(progress_request)          \
  X(progress_reply)            \
  X(forget_session)            \
  X(reset_containers)          \
  X(push_value)                \
  X(announce_value)            \
  X(pull_value)                \
  X(pulled_value)              \
  X(return_credit)             \
  X(open_session)              \
  X(opened_session)            \
  X(extend_graph)              \
  X(extend_known)              \
  X(extended_known)            \
  X(prepare_step)              \
  X(prepared_reply)            \
  X(plan_step)                 \
  X(plan_reply)                \
  X(run_prepared)              \
  X(run_reply)                 \
  X(list_request)              \
  X(list_reply)                \
  X(close_session)             \
  X(cancel_runs)               \
  X(reset_request)             \
  X(begin_partial_run)         \
  X(partial_run_begun)         \
  X(continue_partial_run)      \
  X(partial_run_continued)     \
  X(end_partial_run)
#if PINION_HEADER_ONLY
#define PINION_HELD_MESSAGE(M)
#else
#define PINION_HELD_MESSAGE(M)                                 \
  extern template message encode(const distributed::M& value); \
  extern template void read_all(reader& in, distributed::M& value);
#endif
namespace pinion { inline namespace v0 { namespace rpc {
PINION_EACH_MESSAGE(PINION_HELD_MESSAGE)
}}}  // namespace pinion::v0::rpc
#undef PINION_HELD_MESSAGE
