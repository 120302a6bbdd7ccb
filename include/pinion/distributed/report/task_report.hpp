// The state of one task, as the task tells it: what it keeps, what it does, whom it hears and what went wrong.
//
//   const pn::task_report ps = pn::inspect("pinion://10.0.0.1:2222", {.key_file = "key"});
//   for (const pn::variable_report& v : ps.variables) fmt::print("{}: {} bytes\n", v.name, v.bytes);
//
// All types of this file are plain values. Memory is in bytes. Spans of time are in seconds and end when the report was
// made. Tasks and devices have their full names, such as "/job:ps/replica:0/task:0".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pinion/base/dtype.hpp>
#include <pinion/spec/server_limits.hpp>
#include <pinion/spec/traffic_counts.hpp>
#include <pinion/tensor/shape.hpp>

namespace pinion { inline namespace v0 {

// Steps that have ended, and those under way.
struct step_report {
  std::uint64_t ended = 0, failed = 0;  // since the start; failed ones have ended too
  std::uint64_t running = 0;
  double per_second = 0;  // ended ones, over the last five seconds
};

// A device. All CPU devices of a process share one memory, so each of them tells the use of all.
struct device_report {
  std::string name = {}, description = {};
  std::int64_t memory_used = 0, memory_limit = 0;
  bool memory_is_limited = true;  // false: the limit is a nominal figure, as of a CPU
};

// A variable, with or without a value.
struct variable_report {
  std::string name = {}, container = {};
  std::string device = {};  // "" before a step has used it
  pinion::dtype dtype{};
  pinion::shape shape = {};
  std::int64_t bytes = 0;  // 0: it has no value so far
};

struct queue_report {
  std::string name = {}, container = {};
  std::string kind = {};  // "FIFOQueue"
  std::int64_t size = 0;
  std::int64_t capacity = 0;  // negative: no limit
  bool closed = false;
};

// A session that targets the task, and whose steps the task therefore leads.
struct session_report {
  std::uint64_t number = 0;   // the count of sessions when it was opened
  std::string owner = {};     // the address of its client; "": a client in the task's own process
  double age = 0, quiet = 0;  // since it was opened, and since a step of it last ended
  std::uint64_t memory = 0;   // of its steps and, unless its client is in the same process, its graph; estimated
  step_report steps = {};
};

// A run under way: the part of a step that the task computes.
struct run_report {
  std::string master = {};  // the task that leads the step
  std::uint64_t step = 0;   // the count of its session's steps when it began
  double age = 0;
  std::string computes = {};   // some of its nodes, for people
  std::string waits_for = {};  // a value and the task from which it must come; "": it waits for no other task
};

// Another task of the cluster, as the task sees it.
struct peer_report {
  std::string name = {}, address = {};
  std::string state = "joining";  // not met so far; or "running", "finished", "stopped", "dead"
  double silence = 0;             // since the peer was last heard
  std::string why = {};           // why it is not there, as far as is known
  std::string values_by = {};     // how large values go there: "shared memory", "TCP" or "TLS"; "" if it does not run
};

// A failure that the task has seen: of a step, or of a client that it refused.
struct failure_report {
  std::int64_t time = 0;    // of the last such failure, in milliseconds since 1970, UTC
  std::uint64_t times = 1;  // how often it was seen in a row
  std::string sentence = {};
};

// The threads of a task.
struct pool_report {
  int threads = 0, spares = 0;
  int queued = 0;  // closures that wait for a thread
};

// The rest of the traffic: what waits, in bytes and in numbers.
struct backlog_report {
  int clients = 0;                   // connected clients; other tasks of the cluster are clients too
  int metrics_clients = 0;           // connections to its metrics_server
  std::uint64_t bytes_waiting = 0;   // of answers that clients have not yet taken
  std::uint64_t bytes_received = 0;  // of requests that are not worked off
  std::uint64_t values_offered = 0;  // values that wait until other tasks pull them
  std::uint64_t values_early = 0;    // values for runs that have not begun
  std::uint64_t graphs_kept = 0;     // graphs that stay for those who send them again
  // Parts that have ended, and hold what they took from queues of this task until their runs have.
  std::uint64_t parts_unsettled = 0;
  std::uint64_t tasks_sought = 0;  // tasks of which others have told, and which are not found so far
  // Lines of the log, about refused clients, long runs and tasks that are not believed, which are held back: when ten
  // seconds are over, one line tells how many there were.
  std::uint64_t lines_untold = 0;
};

// A connected client: a session of another process, or another task of the cluster that asks this one. The limits to
// what it may take are those of one client in server_limits.
struct client_report {
  std::string address = {};  // of its first connection
  std::string task = {};     // its name, if it is a task
  double silence = 0;        // since it was last heard
  int connections = 0;       // each of them takes a descriptor of the task's process
  int runs = 0;              // of its steps, that run or wait to be begun
  std::uint64_t sessions = 0;
  std::uint64_t bytes_received = 0;         // of its requests that are not worked off
  std::uint64_t bytes_waiting = 0;          // of answers that it has not yet taken
  std::uint64_t slabs = 0, slab_bytes = 0;  // of memory in which it lends its values, and their address space
  std::uint64_t bytes_lent = 0;             // of values that it is lent
};

// The file descriptors of the task's process, for all that is in it.
struct descriptor_report {
  std::uint64_t open = 0, limit = 0;  // the greatest number: no limit
};

// The memory of other processes of the host that the task has mapped: that of connections, each of which takes a
// descriptor too, and the slabs in which values are lent to it. And what it lends them. Connections from clients count,
// and those to other tasks.
struct shared_memory_report {
  std::uint64_t connections = 0, slabs = 0;
  std::uint64_t slab_bytes = 0;  // of address space
  std::uint64_t bytes_lent = 0;
};

// The state of a task. The lists are sorted, and hold at most `most_rows` rows each, the largest variables first; the
// totals count all.
struct task_report {
  static constexpr std::size_t most_rows = 10'000;

  std::string name = {}, address = {}, version = {};
  std::string state = "running";  // or "stopping", from the moment on at which it refuses what is new
  std::uint64_t incarnation = 0;  // a random number for each life of the task
  std::int64_t process = 0;       // its number in its system
  double uptime = 0;
  step_report steps = {};  // of the sessions that target it, also of those that are closed; none counts as running
  step_report parts =
      {};  // the parts of steps that the task computes, for its own sessions and for those of other tasks
  std::vector<device_report> devices = {};
  std::uint64_t variable_count = 0;
  std::int64_t variable_bytes = 0;
  std::vector<variable_report> variables = {};
  std::vector<queue_report> queues = {};
  std::vector<session_report> sessions = {};
  std::vector<run_report> runs = {};  // the oldest first
  std::vector<peer_report> peers = {};
  std::vector<client_report> clients = {};    // those that take most memory first
  std::vector<failure_report> failures = {};  // the last 32, the latest last
  pool_report pool = {};
  backlog_report backlog = {};
  descriptor_report descriptors = {};
  shared_memory_report shared = {};
  traffic_counts traffic = {};
  server_limits limits = {};
};

}}  // namespace pinion::v0
