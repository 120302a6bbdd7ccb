// Bodies of <pinion/rpc/archive.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/error.hpp>
#include <pinion/rpc/archive.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL void writer::put_count(std::uint64_t count) {
  const auto narrow = static_cast<std::uint32_t>(count);
  if (narrow != count)
    throw error(errc::invalid_argument, std::to_string(count) + " elements are too many for a message");
  put(&narrow, sizeof narrow);
}

PINION_DECL void writer::attach(const void* data, std::size_t bytes, std::shared_ptr<const void> owner) {
  if (bytes == 0) return;
  if (bytes > limits{}.payload - attached_) refuse_more("payload", limits{}.payload);
  parts.push_back({static_cast<const std::byte*>(data), bytes, std::move(owner)});
  attached_ += bytes;
}

PINION_DECL void writer::refuse_more(const char* part, std::uint64_t most) {
  throw error(errc::resource_exhausted, std::string("a message of more than ") + std::to_string(most) + " bytes of " +
                                            part + ", which is the most that a task takes at once" +
                                            (std::string_view(part) == "control" ? ", where texts are" : "") +
                                            "; a smaller step, or graph, passes");
}

PINION_DECL std::string_view reader::take(std::size_t bytes) {
  if (bytes > left())
    refuse("a message ends early: " + std::to_string(bytes) + " bytes wanted, " + std::to_string(left()) + " left");
  const std::string_view taken = control_.substr(0, bytes);
  control_.remove_prefix(bytes);
  return taken;
}

PINION_DECL std::size_t reader::take_count(std::size_t least_bytes) {
  std::uint32_t count;
  std::memcpy(&count, take(sizeof count).data(), sizeof count);
  if (count > left() / least_bytes)
    refuse("a message ends early: " + std::to_string(count) + " elements announced, " + std::to_string(left()) +
           " bytes left");
  return count;
}

PINION_DECL void reader::claim(std::uint64_t bytes) {
  if (bytes > payload_left_)
    refuse("a tensor of " + std::to_string(bytes) + " bytes, where the message has " + std::to_string(payload_left_) +
           " more");
  payload_left_ -= bytes;
}

PINION_DECL void payload_rooms::add(std::span<std::byte> room) {
  if (!room.empty()) all_.push_back(room);
  bytes_ += room.size();
}

PINION_DECL std::shared_ptr<std::byte> payload_rooms::borrow(std::uint64_t bytes) {
  constexpr std::uint64_t alignment = 64, worth = std::uint64_t{16} << 10;
  if (!lent_ || bytes < worth || bytes_ % alignment != 0) return nullptr;
  std::shared_ptr<std::byte> next(lent_, lent_.get() + bytes_);
  add({next.get(), static_cast<std::size_t>(bytes)});
  return next;
}

PINION_DECL void payload_rooms::add_booleans(std::span<std::byte> room) {
  add(room);
  booleans_.push_back(room);
}

PINION_DECL void payload_rooms::check() const {
  for (const auto& room : booleans_) {
    std::byte seen{0};  // what any byte has beside the last bit; a loop without branches, since tensors are large
    for (const std::byte b : room) seen |= b;
    if ((seen & ~std::byte{1}) == std::byte{0}) continue;
    const auto wrong = std::find_if(room.begin(), room.end(), [](std::byte b) { return b > std::byte{1}; });
    reader::refuse("a tensor of booleans came with a byte of " + std::to_string(std::to_integer<int>(*wrong)) +
                   "; a boolean is 0 or 1");
  }
}

PINION_DECL void load(reader& a, short_text& name) {
  const std::size_t bytes = a.take_count();
  if (bytes > short_text::longest)
    reader::refuse("a message holds a name of " + std::to_string(bytes) + " bytes; the limit is " +
                   std::to_string(short_text::longest));
  name.text = a.take(bytes);
  a.spend(bytes);
}

PINION_DECL void reader::finish() const {
  if (left() > 0) refuse("a message has " + std::to_string(left()) + " bytes more than were expected");
  if (payload_left_ > 0) refuse("a message has " + std::to_string(payload_left_) + " bytes that belong to no tensor");
}

PINION_DECL void reader::refuse(std::string sentence) {
  throw error(errc::data_loss, std::move(sentence));
}

PINION_DECL void reader::refuse_memory() const {
  throw error(errc::resource_exhausted,
              "a message takes more than " + std::to_string(allowed_) + " bytes of memory when it is read");
}

PINION_DECL deeper::deeper(reader& a) : of(a) {
  if (of.depth_ == limit) reader::refuse("a message is nested more than " + std::to_string(limit) + " levels deep");
  ++of.depth_;
}

PINION_DECL void save(writer& a, const std::string& text) {
  a.put_count(text.size());
  a.put(text.data(), text.size());
}

}}}  // namespace pinion::v0::rpc
