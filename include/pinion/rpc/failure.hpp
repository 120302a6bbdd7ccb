// Errors on the wire: the receiver gets an equal object.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/rpc/message.hpp>

namespace pinion { inline namespace v0 {

// An error code unknown to this program is read as `unknown`.
void save(rpc::writer& a, const error& e);
void load(rpc::reader& a, error& e);
// A failure, or null where there is none.
void save(rpc::writer& a, const shared_error& maybe);
void load(rpc::reader& a, shared_error& maybe);

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
