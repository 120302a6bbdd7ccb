// Bodies of <pinion/rpc/deliveries.hpp>.
#pragma once

#include <vector>

#include <pinion/rpc/deliveries.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL void deliveries::expect(const std::shared_ptr<connection>& from) {
  if (!from) return;
  open_.push_back({from, from->out().messages()});
}

PINION_DECL bool deliveries::are_made() {
  std::erase_if(open_, is_made);
  return open_.empty();
}

PINION_DECL bool deliveries::is_made(delivery& d) {
  const auto from = d.from.lock();
  if (!from || from->in().is_over()) return true;
  if (!d.bytes) d.bytes = from->out().bytes_if_gone(d.messages);
  return d.bytes && from->out().bytes_taken() >= *d.bytes;
}

}}}  // namespace pinion::v0::rpc
