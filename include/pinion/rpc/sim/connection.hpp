// A connection of the simulated network: what travels on it, and how it breaks.
#pragma once

#include <algorithm>
#include <array>
#include <deque>

#include <pinion/rpc/sim/sleeper.hpp>

namespace pinion::inline v0::rpc::sim {

struct chunk {
  enum kind { data, fin, rst } what;
  time_point arrives;
  std::vector<std::byte> bytes;
};

// One end of a connection: what it has sent that travels, and what it has received.
struct half {
  half(world& world, const host_ptr& at) : host(at), reader(world, at), writer(world, at) {}

  host_ptr host;
  sleeper reader, writer;
  std::deque<chunk> line;  // on the way to the peer
  event due;               // when the first of them arrives; none while the way is cut
  time_point sent, last;   // when all is sent, and when the last chunk arrives
  std::size_t unread = 0;  // bytes sent that the peer has not read
  std::deque<std::vector<std::byte>> arrived;
  std::size_t taken = 0;                                // of the first of them
  bool closed = false, finished = false, told = false;  // by its user; by the peer; the peer that bytes are in vain
  std::string broken;                                   // why nothing goes any more, or ""
};

struct connection : std::enable_shared_from_this<connection> {
  connection(world_ptr w, std::string called, const host_ptr& from, const host_ptr& to)
      : world(std::move(w)), name(std::move(called)), ends{half(*world, from), half(*world, to)} {}

  error failure(int side) const { return {errc::unavailable, "the stream " + name + " broke: " + ends[side].broken}; }
  bool is_cut(int side) const { return world->is_cut(ends[side].host->name, ends[1 - side].host->name); }

  std::size_t put(int side, const std::byte* from, std::size_t size) {
    half& here = ends[side];
    const std::size_t taken = here.host->frozen ? 0 : std::min(size, world->options.buffer - here.unread);
    here.unread += taken;
    for (std::size_t at = 0, n = 0; at < taken; at += n) {
      n = 1 + world->below(std::min(world->options.max_chunk, taken - at));
      send(side, chunk::data, {from + at, from + at + n});
    }
    return taken;
  }
  std::size_t take(int side, std::span<std::byte> into) {
    half &here = ends[side], &peer = ends[1 - side];
    const auto& first = here.arrived.front();
    const std::size_t n = std::min(into.size(), first.size() - here.taken);
    std::copy_n(first.begin() + static_cast<std::ptrdiff_t>(here.taken), n, into.begin());
    here.taken += n;
    if (here.taken == first.size()) {
      here.arrived.pop_front();
      here.taken = 0;
    }
    peer.unread -= n;
    if (peer.unread <= world->options.buffer / 2) peer.writer.wake();  // else pieces would become ever smaller
    return n;
  }
  // Closing on bytes that were not read breaks the peer, as in TCP.
  void close(int side) {
    half& here = ends[side];
    if (std::exchange(here.closed, true)) return;
    const bool whole = here.broken.empty(), rude = !here.arrived.empty();
    fail(side, "it was closed here");
    if (whole) send(side, chunk::fin);
    if (whole && rude) tell(side);
  }
  void kill(int side) {
    auto& line = ends[side].line;
    fail(side, "host " + ends[side].host->name + " was killed");
    line.resize(world->below(line.size() + 1));
    if (line.empty()) world->drop(ends[side].due);
    ends[side].told = false;  // may have been among what was lost
    tell(side);
  }
  void reset() {
    for (const int side : {0, 1}) {
      fail(side, "it was reset");
      lose_line(side);
    }
  }
  void resume(int side, duration after = {}) {
    half& here = ends[side];
    if (here.due || here.line.empty() || is_cut(side)) return;
    here.due = world->at(std::max(world->now + after, here.line.front().arrives),
                         [self = shared_from_this(), side] { self->deliver(side); });
  }

  void fail(int side, const std::string& why) {
    half& here = ends[side];
    if (here.broken.empty()) here.broken = why;
    here.arrived.clear();
    here.taken = 0;
    here.finished = false;
    here.reader.wake();
    here.writer.wake();
  }
  void lose_line(int side) {
    ends[side].line.clear();
    world->drop(ends[side].due);
  }
  void tell(int side) {
    if (!std::exchange(ends[side].told, true)) send(side, chunk::rst);
  }
  void send(int side, chunk::kind what, std::vector<std::byte> bytes = {}) {
    half& here = ends[side];
    here.sent = std::max(here.sent, world->now);
    if (const auto speed = static_cast<double>(world->options.bytes_per_second); speed > 0)
      here.sent += std::chrono::duration_cast<duration>(
          std::chrono::duration<double>(static_cast<double>(bytes.size()) / speed));
    here.last = std::max(here.last, here.sent + world->latency());
    here.line.push_back({what, here.last, std::move(bytes)});
    resume(side);
  }
  void deliver(int side) {
    half& here = ends[side];
    here.due.reset();
    if (is_cut(side)) return;
    chunk chunk = std::move(here.line.front());
    here.line.pop_front();
    arrive(1 - side, std::move(chunk));
    resume(side);
  }
  void arrive(int side, chunk chunk) {
    half& here = ends[side];
    constexpr const char* kinds[] = {" bytes", " end", " reset"};
    world->note(name, side == 0 ? " < " : " > ", std::to_string(chunk.bytes.size()), kinds[chunk.what]);
    if (!here.broken.empty()) {
      if (chunk.what == chunk::data) tell(side);
      return;
    }
    if (chunk.what == chunk::data) here.arrived.push_back(std::move(chunk.bytes));
    if (chunk.what == chunk::fin) here.finished = true;
    here.reader.wake();
    if (chunk.what != chunk::rst) return;
    here.broken = "the peer is gone";
    here.writer.wake();
    lose_line(side);
  }

  const world_ptr world;
  const std::string name;
  std::array<half, 2> ends;  // the end that connected, the end that was accepted
};

}  // namespace pinion::inline v0::rpc::sim
