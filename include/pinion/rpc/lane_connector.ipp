// Bodies of <pinion/rpc/lane_connector.hpp>.
#pragma once

#include <utility>

#include <pinion/base/log.hpp>
#include <pinion/rpc/lane_connector.hpp>
#include <pinion/rpc/security/security.hpp>
#include <pinion/rpc/shared_memory/local_network.hpp>
#include <pinion/rpc/tls_stream.hpp>
#include <pinion/rpc/transport/fuse.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// g++ 12 takes the frame of a coroutine, where it has inlined Asio's operator new, for one that another function frees.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
PINION_DECL awaitable<reached_lanes> lane_connector::connect(const std::string& where, const std::string& task,
                                                             const std::function<time_point()>& limit) {
  const attempt to{where, (task.empty() ? "the task" : task) + " at " + where, limit};
  hello mine;
  mine.channel = random_number();
  mine.to = task;
  mine.address = options_.reached_at;
  mine.spec = options_.spec;
  mine.heartbeat_ms =
      static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::milliseconds>(options_.heartbeat).count());
  mine.lane = lane::control;
  auto control = co_await connect_lane(to, mine);
  mine.lane = lane::data;
  auto data = co_await connect_on_host(to, mine, control);
  if (!data.connection) data = co_await connect_lane(to, mine);
  if (control.peer.incarnation != data.peer.incarnation)
    throw error(errc::unavailable, to.title + " was restarted between two connections");
  co_return reached_lanes{std::move(data), std::move(control)};
}
#pragma GCC diagnostic pop

PINION_DECL awaitable<reached_lane> lane_connector::connect_lane(const attempt& to, hello mine) {
  const auto limit = to.limit();
  auto stream = co_await net_.connect(to.where, limit);
  co_return co_await connect_over(std::move(stream), to, std::move(mine), limit);
}

PINION_DECL awaitable<reached_lane> lane_connector::connect_on_host(const attempt& to, hello mine,
                                                                    const reached_lane& control) {
  reached_lane reached;
  const std::string& at = control.peer.on_host;
  if (!options_.shared_memory || !control.stays_on_host || !is_name_on_host(at)) co_return reached;
  outcome<> connected;
  try {
    auto stream = co_await net_.connect_on_host(at, options_.slabs);
    reached = co_await connect_over(std::move(stream), to, std::move(mine), to.limit());
    if (reached.peer.incarnation != control.peer.incarnation)
      throw error(errc::unavailable, "another task listens at its address within this host");
  } catch (...) {
    connected = current_error();
  }
  if (connected) co_return reached;
  note_no_sharing(to.title, connected.failure()->sentence());
  co_return reached_lane();
}

PINION_DECL void lane_connector::note_no_sharing(const std::string& title, const std::string& why) {
  if (std::exchange(told_no_sharing_, true)) return;
  write_log(log_level::info, options_.me.name, "shares no memory with " + title + ", and uses TCP: " + why);
}

PINION_DECL awaitable<reached_lane> lane_connector::connect_over(std::unique_ptr<byte_stream> stream, const attempt& to,
                                                                 hello mine, time_point limit) {
  reached_lane result;
  result.stays_on_host = stream->stays_on_host();
  outcome<> met;
  {
    fuse limited(net_, *stream, limit);
    try {
      result.peer = co_await meet(stream, to.where, std::move(mine));
    } catch (...) {
      met = current_error();
    }
    if (limited.burnt()) met = error(errc::deadline_exceeded, to.title + " has not finished the handshake");
  }
  met.value();
  result.connection = std::make_shared<connection>(net_, std::move(stream), options_.traffic, options_.allowed);
  co_return result;
}

PINION_DECL awaitable<welcome> lane_connector::meet(std::unique_ptr<byte_stream>& stream, const std::string& where,
                                                    hello mine) {
  if (const auto& files = options_.me.shows.tls) {
    auto sealed = std::make_unique<tls_stream>(net_, std::move(stream), files, side::client);
    tls_stream& both = *sealed;
    stream = std::move(sealed);
    co_await both.shake_hands(where);
  }
  co_return co_await greet(*stream, std::move(mine), options_.me, where);
}

}}}  // namespace pinion::v0::rpc
