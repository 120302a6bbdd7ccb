// Summaries of what replicas that train together have counted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/dsl/layout.hpp>
#include <pinion/dsl/sources.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/graph/device_guard.hpp>
#include <pinion/train/summary/summary.hpp>

namespace pinion::inline v0::train {

// What one resource has counted, and under which names it is shown.
struct replica_counts {
  std::string name;                    // before each of the names
  expr<std::int64_t> totals;           // [n]
  std::vector<std::string_view> told;  // the names of those n
  expr<std::int64_t> lags;             // [16]: how often something was how many steps late or ahead
  std::string_view lag;                // the name of that histogram
};

// A curve of each total, and the histogram of the lags. They only look: running them trains nothing.
inline std::vector<expr<std::string>> summaries_of(const replica_counts& c, const summary::options& o,
                                                   source_location where = source_location::current()) {
  const called_from line(where);
  std::optional<default_scope> use;
  if (&c.totals.owner() != &default_graph()) use.emplace(c.totals.owner());
  const control_dependencies nothing{nullptr};
  const device near{"/cpu:0", where};  // numbers that a file takes
  std::vector<expr<std::string>> all;
  for (std::size_t i = 0; i < c.told.size(); ++i) {
    const expr<std::int64_t> one = reshape(slice(c.totals, {static_cast<std::int64_t>(i)}, {1}), shape{});
    all.push_back(summary::scalar(c.name + "/" + std::string(c.told[i]), one, o, where));
  }
  all.push_back(summary::histogram_of_counts(c.name + "/" + std::string(c.lag), c.lags, o, where));
  return all;
}

}  // namespace pinion::inline v0::train
