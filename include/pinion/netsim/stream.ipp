// Bodies of <pinion/netsim/stream.hpp>.
#pragma once

#include <algorithm>

#include <pinion/netsim/stream.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace netsim {

PINION_DECL awaitable<void> stream::write(std::span<const asio::const_buffer> parts) {
  return writing(connection_, side_, parts);
}

PINION_DECL std::size_t stream::write_now(std::span<const asio::const_buffer> parts) {
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

PINION_DECL std::size_t stream::read_now(std::span<std::byte> into) {
  const half& here = connection_->ends[side_];
  std::size_t n = 0;
  while (n < into.size() && !here.host->frozen && !here.arrived.empty()) n += connection_->take(side_, into.subspan(n));
  return n;
}

PINION_DECL rpc::outflow stream::outflow() const {
  const half& here = connection_->ends[side_];
  rpc::outflow flow{here.put, 0};
  for (const chunk& travels : here.line) flow.on_the_way += travels.bytes.size();
  return flow;
}

PINION_DECL awaitable<std::size_t> stream::reading(std::shared_ptr<connection> of, int side,
                                                   std::span<std::byte> into) {
  half& here = of->ends[side];
  while (here.arrived.empty() && !here.finished && here.broken.empty()) co_await here.reader.sleep();
  if (here.arrived.empty() && !here.finished) throw of->failure(side);
  co_return here.arrived.empty() ? 0 : of->take(side, into);
}

PINION_DECL awaitable<void> stream::writing(std::shared_ptr<connection> of, int side,
                                            std::span<const asio::const_buffer> parts) {
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

}}}  // namespace pinion::v0::netsim
