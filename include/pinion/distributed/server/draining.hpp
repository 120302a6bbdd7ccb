// The first stage of the end of a server: what has begun may end, and nothing begins.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/distributed/master/master.hpp>
#include <pinion/rpc/acceptor.hpp>
#include <pinion/rpc/deliveries.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Refuses new sessions, steps and runs of a task from its construction on. It refers to the parts of the server, which
// goes on to stop them. For one thread, which is not the network's; several may drain one server.
class draining {
 public:
  struct parts {
    rpc::network& net;
    distributed::master& master;
    distributed::worker& worker;
    distributed::exchange& values;
    distributed::peers& peers;
    rpc::acceptor& acceptor;
  };
  draining(const parts& of, std::string task);

  // Waits until all runs have ended, their values are with the tasks that pull them, and their answers with those who
  // asked, but no longer than `grace`. Returns whether that is so. Writes a line of the log if it takes a while, and
  // another if it takes too long.
  bool wait(std::chrono::milliseconds grace);

 private:
  // Returns a text that names what has not ended; "" once all has.
  std::string what_is_left();

  const parts of_;
  const std::string task_;
  // Messages that were on their way when the runs had ended; null before. Used by the network's thread, which may come
  // to them when this is over.
  std::shared_ptr<rpc::deliveries> last_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/draining.ipp>
#endif
