// The answer to one request.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/rpc/message.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

class connection;

// Answers one request, once, in any thread. It does nothing if the connection is gone. If it is destroyed without an
// answer, it answers that the request was dropped. It throws nothing: an answer that cannot be sent, since it is too
// large or there is no memory for it, becomes a refusal, and a refusal for which there is none closes the connection,
// so that nobody waits for it.
class responder {
 public:
  responder() = default;
  responder(std::weak_ptr<connection> to, std::uint64_t id) : to_(std::move(to)), id_(id) {}
  responder(responder&& o) noexcept : to_(std::move(o.to_)), id_(std::exchange(o.id_, 0)) {}
  responder& operator=(responder&& o) noexcept;
  ~responder();
  void reply(message&& answer) noexcept;
  void fail(const error& why) noexcept;
  // Replies with the message that is made; see above for what making it throws.
  template <class Make>
  void reply_with(const Make& make) noexcept {
    try {
      send_reply(make());
    } catch (...) {
      fail(current_error());
    }
  }
  // Closes the connection and tells the peer why, for a request that could not be read.
  void hang_up(const error& why) noexcept;

 private:
  // They throw before anything of the answer is sent, or not at all.
  void send_reply(message&& answer);
  void send_failure(const error& why);

  std::weak_ptr<connection> to_;
  std::uint64_t id_ = 0;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/connection.hpp>  // which includes the bodies, since they need it
#endif
