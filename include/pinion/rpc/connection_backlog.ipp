// Bodies of <pinion/rpc/connection.hpp>: the limits to what waits for the peer.
#pragma once

#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/failure.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL void connection::refuse_if_crowded(outbox::outgoing& answer) const {
  const frame_header& h = answer.header;
  const std::uint64_t bytes = h.control + (h.shared ? 0 : h.payload);
  std::optional<error> why;
  if (takes_no_more())
    why = why_crowded("and it asked for more before");
  else if (!out_.may_add(bytes))
    why = error(errc::resource_exhausted, "an answer of " + std::to_string(bytes) + " bytes, where " +
                                              std::to_string(backlog_limit_.all->bytes()) +
                                              " bytes wait for all clients to take them (limits.bytes_waiting_of_all)");
  if (!why) return;
  answer = outbox::outgoing({.kind = frame_kind::failure, .method = h.method, .id = h.id}, encode_failure(*why));
}

PINION_DECL bool connection::takes_no_more() const {
  if (!has_backlog()) return false;
  return out_.cost() - backlog_limit_.of_one() > backlog_limit_.asked_before ||
         net_.now() - moved_ > backlog_limit_.max_wait / 4;
}

PINION_DECL error connection::why_crowded(const std::string& then) const {
  const std::uint64_t most = backlog_limit_.of_one();
  return error(errc::resource_exhausted,
               "more than " + std::to_string(most) + " bytes wait for the client (" +
                   (most < backlog_limit_.most ? "its share of limits.bytes_waiting_of_all" : "limits.bytes_waiting") +
                   "), " + then);
}

PINION_DECL void connection::watch_backlog() {
  std::lock_guard hold(mutex_);
  if (!closed_) watch_if_crowded();
}

PINION_DECL void connection::watch_if_crowded() {
  if (!has_backlog() || watched_) return;
  net_.post([self = shared_from_this()] { self->net_.spawn(self->watch(self)); });
  watched_ = true;
}

PINION_DECL awaitable<void> connection::watch([[maybe_unused]] std::shared_ptr<connection> self) {
  watch_ = net_.make_timer();
  for (;;) {
    time_point until;
    {
      std::lock_guard hold(mutex_);
      if (!(watched_ = !closed_ && has_backlog())) break;
      until = moved_ + backlog_limit_.max_wait;
    }
    if (net_.now() >= until)
      close_now(why_crowded("and it takes none of them"), true);
    else
      co_await watch_->wait_until(until);
  }
  watch_ = nullptr;
}

PINION_DECL bool connection::is_crowded() const {
  if (!backlog_limit_.is_set()) return false;
  std::lock_guard hold(mutex_);
  const std::uint64_t most = backlog_limit_.of_one() / (room_ ? 2 : 1);
  return out_.cost() > most && out_.cost() - out_.largest() > most;
}

PINION_DECL awaitable<void> connection::await_room() {
  room_ = net_.make_timer();
  while (is_crowded() && !over_) {
    forgive();  // the peer may be talking, and it is this side that does not listen
    co_await room_->wait_until(net_.now() + backlog_limit_.max_wait / 4);
  }
  forgive();
  room_ = nullptr;
}

}}}  // namespace pinion::v0::rpc
