// Which tasks there are, and where: what tasks say of themselves, and of others.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/few_lines.hpp>
#include <pinion/distributed/server/request_reader.hpp>
#include <pinion/distributed/wire/messages.hpp>
#include <pinion/distributed/wire/peers.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Has an elastic task and those that it meets find each other, and those that each of them knows. A task is believed
// about itself alone: of others it tells where to look, and who is found there says the rest. A task that is not
// elastic knows those of its spec, where the spec says. Owned by the task's server, and used in the network's thread;
// its peers outlive it.
class membership {
 public:
  membership(rpc::network& net, peers& others, std::string me, bool elastic);

  // Connects with all tasks of the spec, which learn by that where this one is.
  void announce();
  // Learns where a task is that has connected, and tells it and the others of each other.
  void came(const rpc::peer& who);
  // Forgets what a task has said of itself on a channel that is gone.
  void gone(const rpc::peer& who) { peers_.unlearn(who.name, who.channel); }
  // Nothing: the notice is not for this service.
  std::optional<opened> notice(const delivery& d);
  // Ends the searches whose time is up, and tells of claims that are not believed. To be called each second or so.
  void sweep();
  // The number of claims that are not believed and not told so far.
  std::uint64_t untold() const { return disbelieved_.untold(); }

 private:
  opened heard(const delivery& d);
  void introduce(const std::string& task);
  void look_for(const hearsay& of);
  // Are both in the spec of both, and of this task?
  bool know_each_other(const met_task& one, const met_task& other) const;
  void tell(const std::string& whom, const met_task& of);

  static constexpr std::chrono::seconds max_wait{60};  // so long a task is looked for
  static constexpr std::size_t longest_address = 300;  // the longest name of a host has 253 letters
  rpc::network& net_;
  peers& peers_;
  const std::string me_;
  const bool is_elastic_;
  few_lines disbelieved_;  // claims of tasks to be elsewhere
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/membership.ipp>
#endif
