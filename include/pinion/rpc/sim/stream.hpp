// One end of a simulated connection, for who uses it.
#pragma once

#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/sim/connection.hpp>

namespace pinion::inline v0::rpc::sim {

// Operations hold the connection: the stream may be gone when they wake.
class stream final : public byte_stream {
 public:
  stream(std::shared_ptr<connection> of, int side) : connection_(std::move(of)), side_(side) {}
  ~stream() override { close(); }
  awaitable<std::size_t> read_some(std::span<std::byte> into) override { return reading(connection_, side_, into); }
  awaitable<void> write(std::span<const asio::const_buffer> parts) override {
    return writing(connection_, side_, parts);
  }
  std::size_t write_now(std::span<const asio::const_buffer> parts) override {
    world& world = *connection_->world;
    const bool willing = world.below(100) < world.options.write_now_percent;
    if (!willing || !connection_->ends[side_].broken.empty()) return 0;
    const std::size_t all = asio::buffer_size(parts);
    std::size_t left = world.below(2) == 0 ? all : world.below(all + 1), done = 0;
    for (const asio::const_buffer& part : parts) {
      const std::size_t wanted = std::min(part.size(), left);
      const std::size_t n = connection_->put(side_, static_cast<const std::byte*>(part.data()), wanted);
      done += n;
      left = n < wanted ? 0 : left - n;
    }
    return done;
  }
  void close() noexcept override { connection_->close(side_); }

 private:
  static awaitable<std::size_t> reading(std::shared_ptr<connection> of, int side, std::span<std::byte> into) {
    half& here = of->ends[side];
    while (here.arrived.empty() && !here.finished && here.broken.empty()) co_await here.reader.sleep();
    if (here.arrived.empty() && !here.finished) throw of->failure(side);
    co_return here.arrived.empty() ? 0 : of->take(side, into);
  }
  static awaitable<void> writing(std::shared_ptr<connection> of, int side, std::span<const asio::const_buffer> parts) {
    half& here = of->ends[side];
    if (!here.broken.empty()) throw of->failure(side);
    for (const asio::const_buffer& part : parts) {
      const auto* from = static_cast<const std::byte*>(part.data());
      for (std::size_t done = 0; done < part.size();) {
        const std::size_t n = of->put(side, from + done, part.size() - done);
        done += n;
        if (n == 0) co_await here.writer.sleep();
        if (!here.broken.empty()) throw of->failure(side);
      }
    }
  }

  std::shared_ptr<connection> connection_;
  int side_;
};

}  // namespace pinion::inline v0::rpc::sim
