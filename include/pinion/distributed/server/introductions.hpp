// The elastic tasks of a cluster make each other known.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/messages.hpp>
#include <pinion/distributed/wire/peers.hpp>
#include <pinion/rpc/network.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Has an elastic task and those that it meets find each other, and those that each of them knows. A task is believed
// about itself alone: of others it tells where to look, and who is found there says the rest. Owned by the task's
// server, and used in the network's thread; its peers outlive it.
class introductions {
 public:
  introductions(rpc::network& net, peers& others, std::string me) : net_(net), others_(others), me_(std::move(me)) {}

  // Connects with all tasks of the spec, which learn by that where this one is.
  void announce();
  // Connects with a task that has said where it is, and tells it and the others of each other.
  void came(const std::string& task);
  // Ends the searches whose time is up. To be called each second or so.
  void sweep();
  // Looks for a task of which another has told.
  void heard(const introduce_task& of, const std::string& by);

 private:
  void look_for(const peers::hearsay& of);
  // Are both in the spec of both, and of this task?
  bool know_each_other(const met_task& one, const met_task& other) const;
  void tell(const std::string& whom, const met_task& of);

  static constexpr std::chrono::seconds max_wait{60};  // so long a task is looked for
  static constexpr std::size_t longest_address = 300;  // the longest name of a host has 253 letters
  rpc::network& net_;
  peers& others_;
  const std::string me_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/introductions.ipp>
#endif
