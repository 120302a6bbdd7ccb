// A step that is fed and fetched in several calls: it receives its feeds from its rendezvous, and sends its fetches
// there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/opkit/transfer_key.hpp>
#include <pinion/runtime/step/partition.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// The keys of the ends of such a step, by their numbers in its signature; `at` is where the ends are.
transfer_key feed_key(std::size_t number, std::string_view at);
transfer_key fetch_key(std::size_t number, std::string_view at);
transfer_key target_key(std::size_t number, std::string_view at);

// Makes receives of the feeds of a step that was cut, and sends of its fetches; that of a target sends a signal.
// Requires: the step was cut with tell_targets, and the feeds lie on the host.
void make_partial(std::vector<partition>& parts, const step_signature& s, std::string_view at);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/partial.ipp>
#endif
