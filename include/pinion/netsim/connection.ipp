// Bodies of <pinion/netsim/connection.hpp>.
#pragma once

#include <algorithm>

#include <pinion/netsim/connection.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

PINION_DECL error connection::failure(int side) const {
  return {errc::unavailable, "the stream " + name + " broke: " + ends[side].broken};
}

PINION_DECL std::size_t connection::put(int side, const std::byte* from, std::size_t size) {
  half& here = ends[side];
  const std::size_t taken = here.host->frozen ? 0 : std::min(size, world->options.buffer - here.unread);
  here.put += taken;
  here.unread += taken;
  const bool whole = world->options.whole_percent > 0 && world->below(100) < world->options.whole_percent;
  for (std::size_t at = 0, n = 0; at < taken; at += n) {
    n = whole ? taken : 1 + world->below(std::min(world->options.max_chunk, taken - at));
    send(side, chunk::data, {from + at, from + at + n});
  }
  return taken;
}

PINION_DECL std::size_t connection::take(int side, std::span<std::byte> into) {
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
  if (peer.unread <= world->options.buffer / 2) peer.writer.wake();  // otherwise pieces would become ever smaller
  return n;
}

PINION_DECL void connection::finish(int side) {
  half& here = ends[side];
  if (here.broken.empty() && !std::exchange(here.said_all, true)) send(side, chunk::fin);
}

PINION_DECL void connection::close(int side) {
  half& here = ends[side];
  if (std::exchange(here.closed, true)) return;
  const bool whole = here.broken.empty(), rude = !here.arrived.empty();
  if (whole) finish(side);
  fail(side, "it was closed here");
  if (whole && rude) tell(side);
}

PINION_DECL void connection::kill(int side) {
  auto& line = ends[side].line;
  fail(side, "host " + ends[side].host->name + " was killed");
  line.resize(world->below(line.size() + 1));
  if (line.empty()) world->drop(ends[side].due);
  ends[side].told = false;  // the message may be among the lost chunks
  tell(side);
}

PINION_DECL void connection::reset() {
  for (const int side : {0, 1}) {
    fail(side, "it was reset");
    lose_line(side);
  }
}

PINION_DECL void connection::resume(int side, duration after) {
  half& here = ends[side];
  if (here.due || here.line.empty() || is_cut(side)) return;
  here.due = world->at(std::max(world->now + after, here.line.front().arrives),
                       [self = shared_from_this(), side] { self->deliver(side); });
}

PINION_DECL void connection::fail(int side, const std::string& why) {
  half& here = ends[side];
  if (here.broken.empty()) here.broken = why;
  here.arrived.clear();
  here.taken = 0;
  here.finished = false;
  here.reader.wake();
  here.writer.wake();
}

PINION_DECL void connection::lose_line(int side) {
  ends[side].line.clear();
  world->drop(ends[side].due);
}

PINION_DECL void connection::tell(int side) {
  if (!std::exchange(ends[side].told, true)) send(side, chunk::rst);
}

PINION_DECL void connection::send(int side, chunk::kind what, std::vector<std::byte> bytes) {
  half& here = ends[side];
  here.sent = std::max(here.sent, world->now);
  if (const auto speed = static_cast<double>(world->options.bytes_per_second); speed > 0)
    here.sent +=
        std::chrono::duration_cast<duration>(std::chrono::duration<double>(static_cast<double>(bytes.size()) / speed));
  here.last = std::max(here.last, here.sent + world->latency());
  here.line.push_back({what, here.last, std::move(bytes)});
  resume(side);
}

PINION_DECL void connection::deliver(int side) {
  half& here = ends[side];
  here.due.reset();
  if (is_cut(side)) return;
  chunk chunk = std::move(here.line.front());
  here.line.pop_front();
  arrive(1 - side, std::move(chunk));
  resume(side);
}

PINION_DECL void connection::arrive(int side, chunk chunk) {
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

}}}  // namespace pinion::v0::netsim
