// An error on the wire: the same object arrives at the other side.
#pragma once

#include <string>

#include <pinion/base/error.hpp>
#include <pinion/rpc/message.hpp>

namespace pinion::inline v0::rpc {

inline message encode_failure(const error& e) {
  return encode(static_cast<std::uint8_t>(e.code()), e.sentence(), e.node(), e.op(), e.location(), e.device(),
                e.task());
}

inline error decode_failure(std::string_view control) {
  reader in(control, 0);
  std::uint8_t code = 0;
  std::string sentence, node, op, location, device, task;
  in(code, sentence, node, op, location, device, task);
  in.finish();
  const bool known = code > 0 && code <= static_cast<std::uint8_t>(errc::unauthenticated);
  error e(known ? static_cast<errc>(code) : errc::unknown, std::move(sentence));
  if (!node.empty()) e.at_node(node, op, location);
  return std::move(e.on_device(device).in_task(task));
}

}  // namespace pinion::inline v0::rpc
