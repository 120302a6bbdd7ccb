// Bodies of <pinion/distributed/worker/awaited_values.hpp>.
#pragma once

#include <pinion/distributed/worker/awaited_values.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

namespace detail {

inline std::string text_of(const std::optional<output_type>& type) {
  return type ? std::string(to_string(type->dtype)) + " " + to_string(type->shape) : "empty";
}

}  // namespace detail

PINION_DECL void expect_type(const transfer_key& key, const value_outline& is, const std::optional<output_type>& type) {
  if (is.there == type.has_value() && (!type || (is.dtype == type->dtype && fits(is.shape, type->shape)))) return;
  const auto found = is.there ? std::optional(output_type{.dtype = is.dtype, .shape = is.shape}) : std::nullopt;
  throw error(errc::data_loss, "the value received as '" + key.text() + "' is " + detail::text_of(found) + ", not " +
                                   detail::text_of(type));
}

PINION_DECL void expect_one_of(const awaited_values& all, const transfer_key& key, const value_outline& is) {
  const auto at = all.find(key);
  if (at == all.end()) throw error(errc::data_loss, "the value '" + key.text() + "' is not one that this run awaits");
  expect_type(key, is, at->second);
}

}}}  // namespace pinion::v0::distributed
