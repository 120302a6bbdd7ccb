// Shares common nodes: nodes that compute equal values from equal inputs on one device become one. Nodes with state are
// never shared.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/draft.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

int share_common(draft& d);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/optimize/share_common.ipp>
#endif
