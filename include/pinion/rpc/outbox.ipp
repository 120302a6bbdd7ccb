// Bodies of <pinion/rpc/outbox.hpp>.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include <pinion/rpc/asio_io.hpp>
#include <pinion/rpc/outbox.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {

inline constexpr std::uint32_t all_slots = ((std::uint32_t{1} << most_slots) - 1) << 1;
inline constexpr std::size_t most_buffers = 60;  // about as many as one call of the system takes
inline constexpr unsigned turn_of_oldest = 4;

}  // namespace detail

PINION_DECL void outbox::add(frame_header header, rpc::message&& message) {
  header.control = message.control.size();
  header.payload = message.payload_bytes();
  const bool whole = header.payload <= most_whole_;
  const std::uint64_t pieces = whole ? 0 : (header.payload + piece - 1) / piece;
  messages& to = whole ? whole_ : in_pieces_;
  to.push_back({.header = header, .message = std::move(message), .left = header.payload});
  cost_.set(cost_.bytes() + to.back().cost());
  bytes_added_ += sizeof header * (1 + pieces) + header.control + header.payload;
}

PINION_DECL std::span<const asio::const_buffer> outbox::next() {
  if (batch_.empty()) room_ = piece;
  if (!begun_ && piece_.payload == 0) {
    append_whole_messages();
    if (!in_pieces_.empty()) append_piece();
  }
  return std::span(batch_).subspan(at_);
}

PINION_DECL std::span<const asio::const_buffer> outbox::share(shared_memory& with) {
  const auto bytes = std::span(batch_).subspan(piece_at_);
  if (!begun_ && piece_.payload > 0 && !piece_.shared && with.put(bytes)) {
    piece_.shared = 1;
    batch_.resize(piece_at_);
  }
  return std::span(batch_).subspan(at_);
}

PINION_DECL outbox::messages outbox::written(std::size_t bytes) {
  begun_ = begun_ || bytes > 0;
  while (bytes > 0) {
    asio::const_buffer& first = batch_[at_];
    const std::size_t n = std::min(bytes, first.size());
    first += n;
    bytes -= n;
    if (first.size() == 0) ++at_;
  }
  if (at_ < batch_.size()) return {};
  batch_.clear();
  if (batch_.capacity() > 2 * detail::most_buffers) batch_.shrink_to_fit();
  at_ = 0;
  begun_ = false;
  piece_ = {};
  std::uint64_t gone = 0;
  for (const outgoing& o : ending_) gone += o.cost();
  cost_.set(cost_.bytes() - gone);
  return std::exchange(ending_, {});
}

PINION_DECL outbox::messages outbox::clear() {
  messages all = std::move(ending_);
  all.splice(all.end(), whole_);
  all.splice(all.end(), in_pieces_);
  batch_.clear();
  at_ = 0;
  begun_ = false;
  piece_ = {};
  cost_.set(0);
  return all;
}

PINION_DECL void outbox::append(const void* data, std::uint64_t bytes) {
  if (bytes > 0) batch_.emplace_back(data, static_cast<std::size_t>(bytes));
}

PINION_DECL void outbox::append_beginning(const outgoing& o) {
  append(&o.header, sizeof o.header);
  append(o.message.control.data(), o.message.control.size());
}

PINION_DECL void outbox::append_payload(outgoing& o, std::uint64_t bytes) {
  o.left -= bytes;
  while (bytes > 0) {
    const part& p = o.message.parts[o.part];
    const std::size_t n = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, p.bytes - o.within));
    append(static_cast<const std::byte*>(p.data) + o.within, n);
    bytes -= n;
    o.within += n;
    if (o.within == p.bytes) ++o.part, o.within = 0;
  }
}

PINION_DECL void outbox::append_whole_messages() {
  while (!whole_.empty()) {
    outgoing& o = whole_.front();
    const std::uint64_t bytes = sizeof o.header + o.header.control + o.header.payload;
    if (!batch_.empty() && (bytes > room_ || batch_.size() >= detail::most_buffers)) return;
    append_beginning(o);
    append_payload(o, o.left);
    room_ -= std::min(room_, bytes);
    ending_.splice(ending_.end(), whole_, whole_.begin());
  }
}

PINION_DECL void outbox::append_piece() {
  const auto chosen = next_in_pieces();
  outgoing& o = *chosen;
  if (o.header.slot == 0) {
    o.header.slot = static_cast<std::uint16_t>(std::countr_one(slots_ | 1));
    slots_ |= std::uint32_t{1} << o.header.slot;
    append_beginning(o);
  }
  const std::uint64_t bytes = std::min(o.left, piece);
  piece_ = {.kind = frame_kind::piece, .slot = o.header.slot, .payload = bytes};
  append(&piece_, sizeof piece_);
  piece_at_ = batch_.size();
  append_payload(o, bytes);
  if (o.left > 0) return;
  slots_ &= ~(std::uint32_t{1} << o.header.slot);
  ending_.splice(ending_.end(), in_pieces_, chosen);
}

PINION_DECL outbox::messages::iterator outbox::next_in_pieces() {
  const bool may_begin = slots_ != detail::all_slots, oldest = ++turns_ % detail::turn_of_oldest == 0;
  auto chosen = in_pieces_.end();
  for (auto at = in_pieces_.begin(); at != in_pieces_.end(); ++at) {
    if (at->header.slot == 0 && !may_begin) continue;
    if (chosen == in_pieces_.end() || at->left < chosen->left) chosen = at;
    if (oldest) break;
  }
  return chosen;
}

}}}  // namespace pinion::v0::rpc
