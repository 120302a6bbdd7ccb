// One end of a simulated connection, as its user sees it.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/netsim/connection.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

// A stream on a simulated connection. Pending operations share the connection, since the stream may be destroyed before
// they resume.
class stream final : public rpc::byte_stream {
 public:
  stream(std::shared_ptr<connection> of, int side) : connection_(std::move(of)), side_(side) {}
  ~stream() override { close(); }
  awaitable<std::size_t> read_some(std::span<std::byte> into) override { return reading(connection_, side_, into); }
  awaitable<void> write(std::span<const asio::const_buffer> parts) override;
  std::size_t write_now(std::span<const asio::const_buffer> parts) override;
  std::size_t read_now(std::span<std::byte> into) override;
  void finish() noexcept override { connection_->finish(side_); }
  void close() noexcept override { connection_->close(side_); }
  rpc::outflow outflow() const override;
  std::string peer() const override { return connection_->ends[1 - side_].host->name; }

 private:
  static awaitable<std::size_t> reading(std::shared_ptr<connection> of, int side, std::span<std::byte> into);
  static awaitable<void> writing(std::shared_ptr<connection> of, int side, std::span<const asio::const_buffer> parts);

  std::shared_ptr<connection> connection_;
  int side_;
};

}}}  // namespace pinion::v0::netsim

#if PINION_HEADER_ONLY
#include <pinion/netsim/stream.ipp>
#endif
