// Connects the two lanes of a channel with one task.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/handshake.hpp>
#include <pinion/rpc/shared_memory/slab_account.hpp>
#include <pinion/rpc/traffic.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// The identity and the limits of the calling side of a channel.
struct channel_options {
  identity me;                                   // the calling side
  duration heartbeat = std::chrono::seconds(1);  // a peer that is silent for two heartbeats counts as dead
  duration reconnect = std::chrono::seconds(5);  // limit of one attempt
  limits allowed{};
  bool shared_memory = true;  // is it used where both ends are on one host, unless TLS is spoken?
  std::shared_ptr<rpc::traffic> traffic = std::make_shared<rpc::traffic>();
  std::string reached_at = {};    // the address of the calling side, if it is an elastic task
  std::uint64_t spec = 0;         // of such a task: a digest of the tasks in its cluster spec
  std::uint64_t generations = 0;  // from which its own are counted, so that two channels to one peer share none
  std::shared_ptr<slab_account> slabs = std::make_shared<slab_account>();  // counts what the task shows and is lent
};

// A connection that was made, and what the peer said in its handshake.
struct reached_lane {
  std::shared_ptr<rpc::connection> connection;
  welcome peer;
  bool stays_on_host = false;
};
struct reached_lanes {
  reached_lane data, control;
};

// Makes connections and shakes hands. Owned by a channel, which keeps what it refers to. In the network's thread.
class lane_connector {
 public:
  lane_connector(network& net, const channel_options& options) : net_(net), options_(options) {}

  // Connects with a task by its control lane, and then by its data lane: within the host, where both are on one.
  // `limit` says until when the next connection may take. All three live until this has ended. `task` is the name of
  // the one expected; "" accepts any. Throws unavailable or deadline_exceeded where nothing answers, or
  // two tasks do, and what the handshake ends with.
  awaitable<reached_lanes> connect(const std::string& where, const std::string& task,
                                   const std::function<time_point()>& limit);

 private:
  // The place and the task of an attempt, as messages show them, and its limit.
  struct attempt {
    const std::string& where;
    const std::string title;
    const std::function<time_point()>& limit;
  };
  awaitable<reached_lane> connect_lane(const attempt& to, hello mine);
  // Shakes hands over a stream, and makes a connection of it.
  awaitable<reached_lane> connect_over(std::unique_ptr<byte_stream> stream, const attempt& to, hello mine,
                                       time_point limit);
  // Connects within the host, with the task that the control lane has reached. Has no connection where that cannot be.
  awaitable<reached_lane> connect_on_host(const attempt& to, hello mine, const reached_lane& control);
  void note_no_sharing(const std::string& title, const std::string& why);
  // Shakes hands with the server, over TLS if this side speaks it: then `stream` becomes the encrypted one.
  awaitable<welcome> meet(std::unique_ptr<byte_stream>& stream, const std::string& where, hello mine);

  network& net_;
  const channel_options& options_;
  bool told_no_sharing_ = false;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/lane_connector.ipp>
#endif
