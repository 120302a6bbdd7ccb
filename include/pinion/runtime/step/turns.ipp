// Bodies of <pinion/runtime/step/turns.hpp>.
#pragma once

#include <string>

#include <pinion/base/error.hpp>
#include <pinion/runtime/step/transfer_key.hpp>
#include <pinion/runtime/step/turns.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL std::string feed_key(std::size_t number) {
  return transfer_key("feed", std::to_string(number), "the caller", "the step");
}

PINION_DECL std::string fetch_key(std::size_t number) {
  return transfer_key("fetch", std::to_string(number), "the step", "the caller");
}

PINION_DECL std::string target_key(std::size_t number) {
  return transfer_key("target", std::to_string(number), "the step", "the caller");
}

namespace detail {

inline void take_turns(part_item& it, const step_signature& s) {
  const auto number = static_cast<std::size_t>(it.index);
  if (it.kind == part_item::feed) {
    it.kind = part_item::receive;
    it.key = feed_key(number);
    it.index = s.feeds[number].index;
  } else if (it.kind == part_item::fetch) {
    it.kind = part_item::send;
    it.key = fetch_key(number);
  }
}

// Adds the signal of a target behind the item that computes it.
inline void signal(std::vector<partition>& parts, node_id target, const std::string& key) {
  for (partition& part : parts)
    for (std::size_t i = 0; i < part.items.size(); ++i)
      if (part.items[i].node == target && part.items[i].kind == part_item::compute) {
        part.items.push_back({.kind = part_item::send, .node = target, .key = key, .after = {static_cast<int>(i)}});
        return;
      }
  throw error(errc::internal, "the target with the key '" + key + "' is computed nowhere in its step");
}

}  // namespace detail

PINION_DECL void take_turns(std::vector<partition>& parts, const step_signature& s) {
  for (partition& part : parts)
    for (part_item& it : part.items) detail::take_turns(it, s);
  for (std::size_t i = 0; i < s.targets.size(); ++i) detail::signal(parts, s.targets[i], target_key(i));
}

}}}  // namespace pinion::v0::runtime
