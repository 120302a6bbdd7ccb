// Names of ops that rooms below the ops know. The ops' definitions take theirs from here; all others spell their own.
#pragma once

#include <string_view>

namespace pinion { inline namespace v0 { namespace op_names {

inline constexpr std::string_view placeholder = "Placeholder";     // once fed, it is done
inline constexpr std::string_view zeros_like = "ZerosLike";        // stands for a gradient that there is not
inline constexpr std::string_view scatter_dense = "ScatterDense";  // makes a sparse gradient dense
// Queues whose elements do not leave in the order in which they came.
inline constexpr std::string_view random_shuffle_queue = "RandomShuffleQueueV2";
inline constexpr std::string_view priority_queue = "PriorityQueueV2";

}}}  // namespace pinion::v0::op_names
