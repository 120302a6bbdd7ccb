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
// answer, it answers that the request was dropped.
class responder {
 public:
  responder() = default;
  responder(std::weak_ptr<connection> to, std::uint64_t id) : to_(std::move(to)), id_(id) {}
  responder(responder&& o) noexcept : to_(std::move(o.to_)), id_(std::exchange(o.id_, 0)) {}
  responder& operator=(responder&& o) noexcept;
  ~responder();
  void reply(message&& answer);
  void fail(const error& why);
  // Closes the connection and tells the peer why, for a request that could not be read.
  void hang_up(const error& why);

 private:
  std::weak_ptr<connection> to_;
  std::uint64_t id_ = 0;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/connection.hpp>  // which includes the bodies, since they need it
#endif
