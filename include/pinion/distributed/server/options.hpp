// The options of a server.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <pinion/runtime/options.hpp>
#include <pinion/spec/server_limits.hpp>
#include <pinion/spec/traffic_counts.hpp>

namespace pinion { inline namespace v0 {

// The configuration of one task, the same for every session that uses it. Copied when the server is made.
//
// Tasks of one machine are those with one host in the cluster, and share its cores. Fewer than one CPU device count as
// one.
//
// A server ends in three stages. Asked to stop, by a signal in join(), by pn::shutdown() or by drain(), it begins no
// more steps, and lets those end that have begun, within `grace`. Then stop() fails what still runs, and waits for its
// end within `stop_timeout`: a kernel may not mind that it is cancelled. What has not ended then is named and left to
// itself. stop() and the destructor begin with the second stage.
struct server_config {
  int cpu_devices = 1;       // number of devices /cpu:0, /cpu:1, ... of the task
  int inter_op_threads = 0;  // threads that run independent nodes; 0: the cores here, divided by its job's tasks
  int intra_op_threads = 0;  // threads that share the loops inside a node; same rule
  any_placer placer = {};    // places the nodes of sessions that target this task
  gpu_options gpu = {};      // which of the machine's GPUs the task has, and how much of their memory
  std::vector<sim::accelerator> simulated = {};   // simulated accelerators, and then no GPUs: /gpu:0, /gpu:1, ...
  std::chrono::milliseconds heartbeat{1000};      // a peer silent for two of them is dead; 1 ms to 60 s
  std::uint64_t credit = std::uint64_t{4} << 20;  // most bytes of values pushed to one peer and not yet taken there
  // Does the task share memory with other processes of its host and user? Messages and values go through it then, large
  // ones without a copy, and such processes can read the large values of this one. A child that the program forks has
  // a copy of those, in which what it has not touched may be overwritten as its parent goes on.
  bool shared_memory = true;
  security_options security = {};  // used where server_options give none
  server_limits limits = {};       // the most that clients may ask of the task
  // "host:port": where the task listens, if that is not the address by which the cluster reaches it, as behind a name
  // that leads elsewhere on its own machine, or behind a forwarded port. "0.0.0.0:2222" is each IPv4 address of the
  // machine. "": the address in the cluster.
  std::string listen = {};
  // Tells the tasks of its cluster spec where it is, when it starts and whenever it connects with one, and believes
  // others that tell it: by this a task that is in nobody's spec joins, and one that came back at another address is
  // found. The address of an elastic task in its own spec must be one that the others reach.
  bool elastic = false;
  std::chrono::milliseconds grace{10000};  // limit of the steps that have begun, once the server is asked to stop
  std::chrono::milliseconds stop_timeout{10000};  // limit of stop(); the log names work that runs longer
  // A file for the variables of the task: stop(), however it was asked for, writes them there, and a server that starts
  // takes them from there and renames the file to FILE.taken. So what a task had learned outlives its maintenance. One
  // that dies writes nothing: checkpoints are for that. A variable that a kernel or a device has not let go by the end
  // of stop() is not in the file: the log names it, and join() throws. "": nothing is kept.
  std::string keep = {};
};

// The identity of a task in its cluster, and its configuration. Copied when the server is made.
struct server_options {
  std::string job = {};            // may be empty if the cluster has one job
  int task = 0;                    // number of the task in its job
  security_options security = {};  // key or TLS of the cluster; required on an address that is not loopback
  server_config config = {};       // devices, threads and limits
};

}}  // namespace pinion::v0
