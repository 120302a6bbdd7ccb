// Bodies of <pinion/rpc/connection.hpp>: its end.
#pragma once

#include <array>

#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/failure.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL void connection::close_now(const error& why, bool tell) noexcept {
  std::map<std::uint64_t, reply_handler> lost;
  {
    std::lock_guard hold(mutex_);
    if (closed_) return;
    if (tell && !writing_) static_cast<void>(outcome_of([&] { say_goodbye(why); }));
    closed_ = pinion::detail::share(why);
    lost.swap(waiting_);
    stream_->close();
  }
  over_ = true;
  if (room_) room_->cancel();
  if (watch_) watch_->cancel();
  const auto handlers = std::exchange(handlers_, {});  // releases the owner of this connection
  if (const auto whole = std::exchange(whole_.asker, std::nullopt)) fail(*whole, handlers, why);
  for (auto& [slot, a] : in_pieces_)
    if (const auto asker = std::exchange(a.asker, std::nullopt)) fail(*asker, handlers, why);
  for (const auto& [id, handler] : lost) fail(handler, handlers, why);
  if (handlers.closed) static_cast<void>(outcome_of([&] { handlers.closed(why); }));
}

PINION_DECL void connection::fail(const reply_handler& asker, const connection_handlers& with,
                                  const error& why) noexcept {
  error told = pinion::detail::out_of_memory();
  static_cast<void>(outcome_of([&] { told = with.explain(why); }));
  static_cast<void>(outcome_of([&] { asker.failed(told); }));
}

PINION_DECL void connection::say_goodbye(const error& why) {
  const message last = encode_failure(why);
  const frame_header header{.kind = frame_kind::goodbye, .control = last.control.size()};
  const std::array<asio::const_buffer, 2> parts{asio::buffer(&header, sizeof header), asio::buffer(last.control)};
  stream_->write_last(parts);
}

}}}  // namespace pinion::v0::rpc
