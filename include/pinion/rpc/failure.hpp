// An error on the wire: the same object arrives at the other side.
#pragma once

#include <optional>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/rpc/message.hpp>

namespace pinion { inline namespace v0 {

// A code that this program does not know comes out as `unknown`.
void save(rpc::writer& a, const error& e);
void load(rpc::reader& a, error& e);
// An error has no blank value to load into.
void load(rpc::reader& a, std::optional<error>& maybe);

namespace rpc {

inline message encode_failure(const error& e) {
  return encode(e);
}
error decode_failure(std::string_view control);

}  // namespace rpc
}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/rpc/failure.ipp>
#endif
