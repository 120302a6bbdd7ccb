// Bodies of <pinion/rpc/buffered_reader.hpp>.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <pinion/base/error.hpp>
#include <pinion/rpc/buffered_reader.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL void buffered_reader::take_unread(std::span<std::byte> into) {
  std::memcpy(into.data(), unread_.data(), into.size());
  unread_ = unread_.subspan(into.size());
}

PINION_DECL bool buffered_reader::fill_now(std::span<std::byte> into) {
  if (into.size() > unread_.size()) return false;
  take_unread(into);
  return true;
}

PINION_DECL std::string buffered_reader::take_text(std::size_t bytes) {
  std::string text(reinterpret_cast<const char*>(unread_.data()), bytes);
  unread_ = unread_.subspan(bytes);
  return text;
}

PINION_DECL awaitable<void> buffered_reader::fill(std::span<std::byte> into) {
  while (!into.empty()) {
    if (!unread_.empty()) {
      const std::size_t n = std::min(unread_.size(), into.size());
      take_unread(into.first(n));
      into = into.subspan(n);
    } else if (into.size() >= network::inbox_size) {
      net_.give_back(std::move(inbox_));
      into = into.subspan(co_await read_some(into));
    } else {
      co_await refill();
    }
  }
}

PINION_DECL awaitable<std::size_t> buffered_reader::read_some(std::span<std::byte> into) {
  const std::size_t n = co_await stream_.read_some(into);
  count(n);
  co_return n;
}

PINION_DECL awaitable<void> buffered_reader::refill() {
  net_.give_back(std::move(inbox_));
  std::size_t n = co_await stream_.read_some(first_);
  count(n);
  unread_ = std::span(first_).first(n);
  if (n < first_.size()) co_return;
  inbox_ = net_.borrow_inbox();
  std::memcpy(inbox_.get(), first_.data(), n);
  if (const std::size_t more = stream_.read_now({inbox_.get() + n, network::inbox_size - n}); more > 0) {
    count(more);
    n += more;
  }
  unread_ = {inbox_.get(), n};
}

PINION_DECL awaitable<void> buffered_reader::skip(std::uint64_t bytes) {
  std::vector<std::byte> nowhere(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, 1 << 16)));
  while (bytes > 0) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, nowhere.size()));
    co_await fill({nowhere.data(), n});
    bytes -= n;
  }
}

PINION_DECL void buffered_reader::count(std::size_t arrived) {
  if (over_) throw error(errc::cancelled, "closed here meanwhile");
  if (given_up_.load(std::memory_order_relaxed))
    throw error(errc::unavailable, "there was no memory for a message to the peer");
  if (arrived == 0) throw error(errc::unavailable, "the peer closed the connection");
  traffic::add(traffic_.bytes_received, arrived);
  forgive();
}

}}}  // namespace pinion::v0::rpc
