// Summaries of what replicas that train together have counted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/train/summary/summary.hpp>

namespace pinion { inline namespace v0 { namespace train {

// What one resource has counted, and under which names it is shown.
struct replica_counts {
  std::string name;                    // before each of the names
  expr<std::int64_t> totals;           // [n]
  std::vector<std::string_view> told;  // the names of those n
  expr<std::int64_t> lags;             // [16]: how often something was how many steps late or ahead
  std::string_view lag;                // the name of that histogram
};

// A curve of each total, and the histogram of the lags. They only look: running them trains nothing.
std::vector<expr<std::string>> summaries_of(const replica_counts& c, const summary::options& o,
                                            source_location where = source_location::current());

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/replicas/replica_summaries.ipp>
#endif
