// Bodies of <pinion/rpc/outbox.hpp>.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include <pinion/rpc/outbox.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {

inline constexpr std::uint32_t all_slots = ((std::uint32_t{1} << most_slots) - 1) << 1;
inline constexpr std::size_t most_buffers = 60;  // about as many as one call of the system takes
inline constexpr unsigned oldest_each = 4;

}  // namespace detail

PINION_DECL outbox::outgoing::outgoing(frame_header h, rpc::message&& m) : header(h), message(std::move(m)) {
  header.control = message.control.size();
  header.payload = left = message.payload_bytes();
}

PINION_DECL std::optional<place_in_slab> outbox::outgoing::in_slab() const {
  if (header.payload <= worth_sharing || message.parts.size() != 1) return std::nullopt;
  const rpc::part& all = message.parts.front();
  return all.owner ? find_in_slabs(all.data, all.bytes) : std::nullopt;
}

PINION_DECL bool outbox::outgoing::lend(shared_memory& with, const place_in_slab& where) {
  place = with.find_place(where, header.payload, message.parts.front().owner);
  if (!place) return false;
  header.shared = frame_header::in_slab;
  left = 0;
  message.parts.clear();
  return true;
}

PINION_DECL void outbox::outgoing::share(shared_memory& with) {
  if (header.payload <= worth_sharing || !(place = with.find_place(header.payload))) return;
  header.shared = frame_header::in_pages;
  if (header.payload <= shared_at_once) put(left);
}

PINION_DECL void outbox::outgoing::put(std::uint64_t most) {
  advance(*this, std::min(left, most), [this](std::span<const std::byte> bytes) { place.put(bytes); });
  if (left == 0) message.parts.clear();  // their memory may be used again from here on
}

PINION_DECL void outbox::add(outgoing&& next) {
  const frame_header& h = next.header;
  const bool whole = h.shared ? next.left == 0 : h.payload <= piece;
  const std::uint64_t pieces = whole || h.shared ? 0 : (h.payload + piece - 1) / piece;
  const std::uint64_t cost = next.cost(), bytes = sizeof h * (1 + pieces) + h.control + h.payload;
  next.number = added_ + 1;
  (whole ? whole_ : h.shared ? to_share_ : in_pieces_).push_back(std::move(next));
  cost_.set(cost_.bytes() + cost);
  ++added_;
  bytes_added_ += bytes;
}

PINION_DECL bool outbox::are_gone(std::uint64_t first) const {
  const auto none = [first](const messages& of) {
    return std::none_of(of.begin(), of.end(), [first](const outgoing& o) { return o.number <= first; });
  };
  return none(whole_) && none(in_pieces_) && none(to_share_) && none(ending_);
}

PINION_DECL std::uint64_t outbox::largest() const {
  std::uint64_t most = 0;
  for (const outgoing& o : in_pieces_) most = std::max(most, o.cost());
  return most;
}

PINION_DECL outbox::outgoing* outbox::next_to_share() {
  if (sharing_ != to_share_.end() && sharing_->left == 0) whole_.splice(whole_.end(), to_share_, sharing_);
  sharing_ = next_of(to_share_, true);
  return sharing_ == to_share_.end() ? nullptr : &*sharing_;
}

PINION_DECL std::span<const asio::const_buffer> outbox::next() {
  if (batch_.empty()) room_ = piece;
  if (!begun_ && piece_.payload == 0) {
    append_whole_messages();
    if (!in_pieces_.empty()) append_piece();
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
  shared_ = 0;
  std::uint64_t gone = 0;
  for (const outgoing& o : ending_) gone += o.cost();
  cost_.set(cost_.bytes() - gone);
  return std::exchange(ending_, {});
}

PINION_DECL outbox::messages outbox::clear() {
  messages all = std::move(ending_);
  all.splice(all.end(), whole_);
  all.splice(all.end(), in_pieces_);
  all.splice(all.end(), to_share_);
  sharing_ = to_share_.end();
  batch_.clear();
  at_ = 0;
  begun_ = false;
  piece_ = {};
  shared_ = 0;
  cost_.set(0);
  return all;
}

PINION_DECL void outbox::append(std::span<const std::byte> bytes) {
  if (!bytes.empty()) batch_.emplace_back(bytes.data(), bytes.size());
}

PINION_DECL void outbox::append_beginning(const outgoing& o) {
  append(std::as_bytes(std::span(&o.header, 1)));
  append(std::as_bytes(std::span(o.message.control)));
}

template <class ForPart>
void outbox::advance(outgoing& o, std::uint64_t bytes, const ForPart& for_part) {
  o.left -= bytes;
  while (bytes > 0) {
    const part& p = o.message.parts[o.part];
    const std::size_t n = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, p.bytes - o.within));
    for_part({static_cast<const std::byte*>(p.data) + o.within, n});
    bytes -= n;
    o.within += n;
    if (o.within == p.bytes) ++o.part, o.within = 0;
  }
}

PINION_DECL void outbox::append_payload(outgoing& o, std::uint64_t bytes) {
  advance(o, bytes, [this](std::span<const std::byte> next) { append(next); });
}

PINION_DECL void outbox::append_whole_messages() {
  while (!whole_.empty()) {
    outgoing& o = whole_.front();
    const std::uint64_t bytes = sizeof o.header + o.header.control + o.left;
    if (!batch_.empty() && (bytes > room_ || batch_.size() >= detail::most_buffers)) return;
    if (o.place) {
      o.header.slot = o.place.lend();
      shared_ += o.header.payload;
    }
    append_beginning(o);
    append_payload(o, o.left);
    room_ -= std::min(room_, bytes);
    ending_.splice(ending_.end(), whole_, whole_.begin());
  }
}

PINION_DECL void outbox::append_piece() {
  const auto chosen = next_of(in_pieces_, slots_ != detail::all_slots);
  outgoing& o = *chosen;
  if (o.header.slot == 0) {
    o.header.slot = static_cast<std::uint16_t>(std::countr_one(slots_ | 1));
    slots_ |= std::uint32_t{1} << o.header.slot;
    append_beginning(o);
  }
  const std::uint64_t bytes = std::min(o.left, piece);
  piece_ = {.kind = frame_kind::piece, .slot = o.header.slot, .payload = bytes};
  append(std::as_bytes(std::span(&piece_, 1)));
  append_payload(o, bytes);
  if (o.left > 0) return;
  slots_ &= ~(std::uint32_t{1} << o.header.slot);
  ending_.splice(ending_.end(), in_pieces_, chosen);
}

PINION_DECL outbox::messages::iterator outbox::next_of(messages& all, bool may_begin) {
  if (all.empty()) return all.end();
  const bool oldest = ++served_ % detail::oldest_each == 0;
  auto chosen = all.end();
  for (auto at = all.begin(); at != all.end(); ++at) {
    if (at->header.slot == 0 && !may_begin) continue;
    if (chosen == all.end() || at->left < chosen->left) chosen = at;
    if (oldest) break;
  }
  return chosen;
}

}}}  // namespace pinion::v0::rpc
