// The parts of a server that its master and the master's sessions use.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <pinion/distributed/master/deadlines.hpp>
#include <pinion/distributed/master/users.hpp>
#include <pinion/distributed/wire/peers.hpp>
#include <pinion/distributed/worker/exchange.hpp>
#include <pinion/distributed/worker/step_counts.hpp>
#include <pinion/distributed/worker/worker.hpp>
#include <pinion/placement/any_placer.hpp>
#include <pinion/spec/server_limits.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

struct master_services {
  rpc::network& net;
  std::string name;  // name of its task
  std::uint64_t incarnation;
  distributed::peers& peers;
  distributed::exchange& values;
  distributed::worker& here;
  std::shared_ptr<step_counts> steps;  // of all sessions
  any_placer place = {};
  server_limits limits = {};
  // Memory of the graphs and steps of all sessions of other processes, as estimated.
  std::shared_ptr<std::atomic<std::uint64_t>> memory_of_all = std::make_shared<std::atomic<std::uint64_t>>(0);
  // The calls that use these parts on behalf of a session; a server that stops waits for them.
  std::shared_ptr<users> in_use = std::make_shared<users>();
  // Is the server asked to stop, so that nothing begins?
  std::shared_ptr<std::atomic<bool>> stopping = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<deadlines> watched = std::make_shared<deadlines>(net);
};

}}}  // namespace pinion::v0::distributed
