// Bodies of <pinion/runtime/step/partial.hpp>.
#pragma once

#include <string>

#include <pinion/opkit/transfer_key.hpp>
#include <pinion/runtime/step/partial.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL transfer_key feed_key(std::size_t number, std::string_view at) {
  return transfer_key("feed", std::to_string(number), at, at);
}

PINION_DECL transfer_key fetch_key(std::size_t number, std::string_view at) {
  return transfer_key("fetch", std::to_string(number), at, at);
}

PINION_DECL transfer_key target_key(std::size_t number, std::string_view at) {
  return transfer_key("target", std::to_string(number), at, at);
}

namespace detail {

inline void make_partial(part_item& it, const step_signature& s, std::string_view at) {
  const auto number = static_cast<std::size_t>(it.index);
  if (it.kind == part_item::feed) {
    it.kind = part_item::receive;
    it.key = feed_key(number, at);
    it.index = s.feeds[number].index;
  } else if (it.kind == part_item::fetch) {
    const std::size_t fetches = s.fetches.size();
    it.kind = part_item::send;
    it.key = number < fetches ? fetch_key(number, at) : target_key(number - fetches, at);
  }
}

}  // namespace detail

PINION_DECL void make_partial(std::vector<partition>& parts, const step_signature& s, std::string_view at) {
  for (partition& part : parts)
    for (part_item& it : part.items) detail::make_partial(it, s, at);
}

}}}  // namespace pinion::v0::runtime
