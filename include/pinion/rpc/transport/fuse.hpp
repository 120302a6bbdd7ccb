// A time limit on the use of a stream.
#pragma once

#include <memory>

#include <pinion/base/config.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Closes the stream at `when`, unless it is destroyed before. Used by the network's thread; the stream must outlive it.
class fuse {
 public:
  fuse(network& net, byte_stream& stream, time_point when);
  fuse(const fuse&) = delete;
  ~fuse();
  // Has it closed the stream?
  bool burnt() const { return state_->burnt; }

 private:
  struct state {
    std::unique_ptr<rpc::timer> timer;
    byte_stream* stream = nullptr;
    bool burnt = false;
  };
  static awaitable<void> burn(std::shared_ptr<state> s, time_point when);

  std::shared_ptr<state> state_;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/transport/fuse.ipp>
#endif
