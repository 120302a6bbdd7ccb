// The values that a run receives from its peers, and whether one that came is the one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/values.hpp>
#include <pinion/graph/node.hpp>
#include <pinion/opkit/transfer_key.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The types of the values, by their keys; nothing: a signal without a value.
using awaited_values = std::map<transfer_key, std::optional<output_type>>;

// Throws data_loss unless a value is one of the type.
void expect_type(const transfer_key& key, const value_outline& is, const std::optional<output_type>& type);

// Throws data_loss unless a value is the one that is awaited by the key.
void expect_one_of(const awaited_values& all, const transfer_key& key, const value_outline& is);

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/worker/awaited_values.ipp>
#endif
