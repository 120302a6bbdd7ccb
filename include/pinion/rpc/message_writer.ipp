// Bodies of <pinion/rpc/message_writer.hpp>.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <pinion/base/outcome.hpp>
#include <pinion/rpc/failure.hpp>
#include <pinion/rpc/message_writer.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL void message_writer::send(frame_header header, rpc::message&& message, urgency when) {
  if (!net_.is_of_this_process()) return;  // the stream is the parent's
  outbox::outgoing next(header, std::move(message));
  if (memory_ && !lend(next)) next.share(*memory_);
  outbox::messages gone;  // their memory is freed without the lock
  std::lock_guard hold(mutex_);
  if (closed_) return;
  traffic::add(traffic_.messages_sent);
  if (header.kind == frame_kind::reply) refuse_if_crowded(next);
  if (!has_backlog()) moved_ = net_.now();
  out_.add(std::move(next));
  try {
    write_on(when, gone);
  } catch (...) {
    writing_ = true;  // nobody does any more
    in_.give_up();
  }
}

PINION_DECL void message_writer::close(const error* told) noexcept {
  {
    std::lock_guard hold(mutex_);
    if (told && !writing_) static_cast<void>(outcome_of([&] { say_goodbye(*told); }));
    closed_ = true;
    stream_.close();
  }
  if (room_) room_->cancel();
  if (watch_) watch_->cancel();
}

PINION_DECL void message_writer::say_goodbye(const error& why) {
  const message last = encode_failure(why);
  const frame_header header{.kind = frame_kind::goodbye, .control = last.control.size()};
  const std::array<asio::const_buffer, 2> parts{asio::buffer(&header, sizeof header), asio::buffer(last.control)};
  stream_.write_last(parts);
}

PINION_DECL void message_writer::write_on(urgency when, outbox::messages& gone) {
  if (writing_) return watch_if_crowded();     // the thread that is writing will send it
  const bool wakes_more = memory_ != nullptr;  // within a host a write costs less than waking a thread for it
  if ((when == urgency::now || wakes_more) && all_written_now(gone)) return;
  writing_ = true;
  watch_if_crowded();
  net_.post([this, self = owner_.kept()] {
    const auto began = outcome_of([&] { net_.spawn(write(self)); });
    if (!began) owner_.close_now(*began.failure(), false);
  });
}

PINION_DECL bool message_writer::lend(outbox::outgoing& next) {
  const auto where = next.in_slab();
  if (!where) return false;
  if (!memory_->has_shown(*where->slab)) {
    std::lock_guard hold(mutex_);
    if (closed_ || !stream_.show(where->slab)) return false;
  }
  return next.lend(*memory_, *where);
}

PINION_DECL bool message_writer::all_written_now(outbox::messages& gone) {
  constexpr int most_calls = 4;  // the rest is the work of the network's thread
  for (int i = 0; i < most_calls && !out_.empty(); ++i) {
    const auto parts = out_.next();
    if (parts.empty()) return false;
    const std::size_t all = asio::buffer_size(parts), n = stream_.write_now(parts);
    if (n > 0) count_written(n + (n == all ? out_.shared() : 0));
    gone.splice(gone.end(), out_.written(n));
    if (n < all) return false;
  }
  return out_.empty();
}

PINION_DECL void message_writer::count_written(std::size_t bytes) {
  traffic::add(traffic_.bytes_sent, bytes);
  traffic::add(traffic_.writes);
  written_.fetch_add(bytes, std::memory_order_relaxed);
}

PINION_DECL awaitable<void> message_writer::write([[maybe_unused]] std::shared_ptr<owner> keeps) {
  outcome<> written;
  std::size_t bytes = 0;  // of what was written last
  try {
    for (;;) {
      outbox::messages gone;
      std::span<const asio::const_buffer> parts;
      outbox::outgoing* to_share = nullptr;
      {
        std::lock_guard hold(mutex_);
        gone = closed_ ? out_.clear() : out_.written(bytes);
        moved_ = net_.now();
        to_share = out_.next_to_share();
        parts = out_.next();
        writing_ = !parts.empty() || to_share;
      }
      if (room_ && !is_crowded()) room_->cancel();
      if (parts.empty() && !to_share) co_return;
      if (to_share) to_share->put_piece();
      bytes = asio::buffer_size(parts);
      if (bytes == 0)
        co_await give_way(net_.context());
      else
        co_await stream_.write(parts);
      count_written(bytes + out_.shared());
    }
  } catch (...) {
    written = current_error();
  }
  owner_.close_now(*written.failure(), false);
  outbox::messages lost;
  std::lock_guard hold(mutex_);
  lost = out_.clear();
}

PINION_DECL std::uint64_t message_writer::bytes_waiting() const {
  std::lock_guard hold(mutex_);
  return out_.cost();
}

PINION_DECL std::uint64_t message_writer::bytes_queued() const {
  std::lock_guard hold(mutex_);
  return out_.bytes_added();
}

PINION_DECL std::uint64_t message_writer::bytes_taken() const {
  const std::uint64_t written = written_.load(std::memory_order_relaxed);  // first: others may write meanwhile
  return written - std::min(written, stream_.outflow().on_the_way);
}

PINION_DECL std::uint64_t message_writer::progress() const {
  const outflow now = stream_.outflow();
  return now.accepted - std::min(now.accepted, now.on_the_way);
}

PINION_DECL std::uint64_t message_writer::messages() const {
  std::lock_guard hold(mutex_);
  return out_.added();
}

PINION_DECL std::optional<std::uint64_t> message_writer::bytes_if_gone(std::uint64_t messages) const {
  std::lock_guard hold(mutex_);
  if (!out_.are_gone(messages)) return std::nullopt;
  return written_.load(std::memory_order_relaxed);
}

PINION_DECL bool message_writer::is_crowded() const {
  if (!limit_.is_set()) return false;
  std::lock_guard hold(mutex_);
  const std::uint64_t most = limit_.of_one() / (room_ ? 2 : 1);
  return out_.cost() > most && out_.cost() - out_.largest() > most;
}

PINION_DECL awaitable<void> message_writer::await_room() {
  room_ = net_.make_timer();
  while (is_crowded() && !in_.is_over()) {
    in_.forgive();  // the peer may be talking, and it is this side that does not listen
    co_await room_->wait_until(net_.now() + limit_.max_wait / 4);
  }
  in_.forgive();
  room_ = nullptr;
}

PINION_DECL void message_writer::refuse_if_crowded(outbox::outgoing& answer) const {
  const frame_header& h = answer.header;
  const std::uint64_t bytes = h.control + (h.shared ? 0 : h.payload);
  std::optional<error> why;
  if (takes_no_more())
    why = why_crowded("and it asked for more before");
  else if (!out_.may_add(bytes))
    why = error(errc::resource_exhausted, "an answer of " + std::to_string(bytes) + " bytes, where " +
                                              std::to_string(limit_.all->bytes()) +
                                              " bytes wait for all clients to take them (limits.bytes_waiting_of_all)");
  if (!why) return;
  answer = outbox::outgoing({.kind = frame_kind::failure, .method = h.method, .id = h.id}, encode_failure(*why));
}

PINION_DECL bool message_writer::takes_no_more() const {
  if (!has_backlog()) return false;
  return out_.cost() - limit_.of_one() > limit_.asked_before || net_.now() - moved_ > limit_.max_wait / 4;
}

PINION_DECL error message_writer::why_crowded(const std::string& then) const {
  const std::uint64_t most = limit_.of_one();
  return error(errc::resource_exhausted,
               "more than " + std::to_string(most) + " bytes wait for the client (" +
                   (most < limit_.most ? "its share of limits.bytes_waiting_of_all" : "limits.bytes_waiting") + "), " +
                   then);
}

PINION_DECL void message_writer::watch_backlog() {
  std::lock_guard hold(mutex_);
  if (!closed_) watch_if_crowded();
}

PINION_DECL void message_writer::watch_if_crowded() {
  if (!has_backlog() || watched_) return;
  net_.post([this, self = owner_.kept()] { net_.spawn(watch(self)); });
  watched_ = true;
}

PINION_DECL awaitable<void> message_writer::watch([[maybe_unused]] std::shared_ptr<owner> keeps) {
  watch_ = net_.make_timer();
  for (;;) {
    time_point until;
    {
      std::lock_guard hold(mutex_);
      if (!(watched_ = !closed_ && has_backlog())) break;
      until = moved_ + limit_.max_wait;
    }
    if (net_.now() >= until)
      owner_.close_now(why_crowded("and it takes none of them"), true);
    else
      co_await watch_->wait_until(until);
  }
  watch_ = nullptr;
}

}}}  // namespace pinion::v0::rpc
