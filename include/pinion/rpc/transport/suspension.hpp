// A coroutine that waits until another piece of code resumes it.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Owned by what the coroutine waits for. Used by the network's thread only. Where it goes with a coroutine that waits,
// this coroutine goes, too, and never resumes.
class suspension {
 public:
  // One coroutine at a time.
  awaitable<void> wait() {
    return asio::async_initiate<const asio::use_awaitable_t<>&, void()>(
        [this, place = std::make_unique<kept>()](auto handler) mutable {
          place->keep(std::move(handler));
          waiting_ = std::move(place);
        },
        asio::use_awaitable);
  }
  explicit operator bool() const { return waiting_ != nullptr; }
  // Takes the coroutine, so that it can be resumed after what it waited for has gone.
  suspension take() { return std::exchange(*this, suspension()); }
  // Resumes the coroutine, if one waits, in the calling thread and at once.
  void resume() {
    if (const auto next = std::move(waiting_)) next->what->go_on();
  }

 private:
  struct continuation {
    virtual ~continuation() = default;
    virtual void go_on() = 0;
  };
  template <class Handler>
  struct continued final : continuation {
    explicit continued(Handler h) : handler(std::move(h)) {}
    void go_on() override { std::move(handler)(); }
    Handler handler;
  };

  // The memory of a continuation, which is taken before the coroutine stands: Asio knows no way back from there.
  struct kept {
    alignas(std::max_align_t) std::byte room[128];
    continuation* what = nullptr;

    kept() = default;
    kept(const kept&) = delete;
    ~kept() {
      if (what) what->~continuation();
    }
    template <class Handler>
    void keep(Handler&& handler) {
      using kind = continued<std::remove_cvref_t<Handler>>;
      static_assert(sizeof(kind) <= sizeof room && std::is_nothrow_move_constructible_v<std::remove_cvref_t<Handler>>);
      what = new (room) kind(std::forward<Handler>(handler));
    }
  };

  std::unique_ptr<kept> waiting_;
};

}}}  // namespace pinion::v0::rpc
