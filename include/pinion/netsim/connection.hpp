// A connection of the simulated network: the bytes that travel on it, and how it breaks.
#pragma once

#include <array>
#include <deque>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/netsim/sleeper.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

// A piece of a stream that travels: data, the end of the data, or a broken connection.
struct chunk {
  enum kind { data, fin, rst } what;
  time_point arrives;
  std::vector<std::byte> bytes;
};

// One end of a connection: the chunks it has sent that still travel, and the bytes it has received.
struct half {
  half(world& world, const host_ptr& at) : host(at), reader(world, at), writer(world, at) {}

  host_ptr host;
  sleeper reader, writer;
  std::deque<chunk> line;  // chunks on the way to the peer
  event due;               // arrival of the first of them; none while the direction is cut
  time_point sent, last;   // when the last byte is sent; when the last chunk arrives
  std::uint64_t put = 0;   // number of bytes sent so far
  std::size_t unread = 0;  // number of them that the peer has not read
  std::deque<std::vector<std::byte>> arrived;
  std::size_t taken = 0;  // bytes already read of the first of them
  // closed by its user; by the peer; the peer was told that its bytes are lost
  bool closed = false, finished = false, told = false;
  bool said_all = false;  // the end of its data was sent
  std::string broken;     // why the connection is broken; "": it is not
};

// A simulated connection. Shared by its two streams and by its pending events.
struct connection : std::enable_shared_from_this<connection> {
  connection(world_ptr w, std::string called, const host_ptr& from, const host_ptr& to)
      : world(std::move(w)), name(std::move(called)), ends{half(*world, from), half(*world, to)} {}

  error failure(int side) const;
  bool is_cut(int side) const { return world->is_cut(ends[side].host->name, ends[1 - side].host->name); }

  std::size_t put(int side, const std::byte* from, std::size_t size);
  std::size_t take(int side, std::span<std::byte> into);
  // Ends the data of a side, which reads on.
  void finish(int side);
  // Closing while received bytes are unread breaks the peer's end, as in TCP.
  void close(int side);
  void kill(int side);
  void reset();
  void lose();
  void resume(int side, duration after = {});

  void fail(int side, const std::string& why);
  void lose_line(int side);
  void tell(int side);
  void send(int side, chunk::kind what, std::vector<std::byte> bytes = {});
  void deliver(int side);
  void arrive(int side, chunk chunk);

  const world_ptr world;
  const std::string name;
  bool lost = false;         // nothing travels on it any more
  std::array<half, 2> ends;  // the end that connected, then the end that was accepted
};

}}}  // namespace pinion::v0::netsim

#if PINION_HEADER_ONLY
#include <pinion/netsim/connection.ipp>
#endif
