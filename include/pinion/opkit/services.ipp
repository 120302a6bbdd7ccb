// Bodies of <pinion/opkit/services.hpp>.
#pragma once

#include <pinion/opkit/binding.hpp>
#include <pinion/opkit/services.hpp>
#include <pinion/opkit/transfer_key.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL error rendezvous::received_twice(const transfer_key& key) {
  return error(errc::internal, "the value '" + key.text() + "' is received twice; it is sent once");
}

PINION_DECL std::unique_ptr<bound_body> nested_step::bind(std::span<const cell>) {
  return nullptr;
}

}}  // namespace pinion::v0
