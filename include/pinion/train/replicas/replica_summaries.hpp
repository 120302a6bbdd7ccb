// Summaries of the counters that replicas which train together keep.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/train/summary/summary.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The counters of one barrier or clock, and the names under which they are shown.
struct replica_counts {
  std::string name;                    // the prefix of the names
  expr<std::int64_t> totals;           // [n]: the counters
  std::vector<std::string_view> told;  // the names of these n counters
  expr<std::int64_t> lags;             // [16]: how many steps were 0, 1, 2, ... steps late or ahead
  std::string_view lag;                // the name of the histogram of lags
};

// Makes a curve of each total and a histogram of the lags. Running them reads the counters and trains nothing. The
// nodes are on a CPU and in the graph of the counters.
std::vector<expr<std::string>> summaries_of(const replica_counts& c, const summary::options& o,
                                            source_location where = source_location::current());

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/replicas/replica_summaries.ipp>
#endif
