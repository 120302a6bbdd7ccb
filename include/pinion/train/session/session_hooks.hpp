// The hooks of a monitored session: those of its options, and those that the options ask for.
#pragma once

#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/train/hooks/hook.hpp>
#include <pinion/train/session/options.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Fills in what the options of a session leave open. A frequency of 0, which means never, is left out.
void fill_in(monitored_session_options& o);

// Returns the hooks of a session in the order in which they are called. Requires: the options are filled in.
//
// The chief's own hooks come first: the caller's, the counter, summaries; then the hooks of all tasks. The saver of
// checkpoints comes last (in TensorFlow it comes before them): a step that another hook refuses is not saved, and what
// the end() of others leaves is saved.
std::vector<any_hook> hooks_of(const monitored_session_options& o, graph& g);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/session_hooks.ipp>
#endif
