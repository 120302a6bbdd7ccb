// Bodies of <pinion/train/replicas/replica_summaries.hpp>.
#pragma once

#include <optional>

#include <pinion/graph/called_from.hpp>
#include <pinion/graph/device_guard.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/gather/functions.hpp>
#include <pinion/op/layout/functions.hpp>
#include <pinion/op/slice/functions.hpp>
#include <pinion/train/replicas/replica_summaries.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL std::vector<expr<std::string>> summaries_of(const replica_counts& c, const summary::options& o,
                                                        source_location where) {
  const called_from line(where);
  std::optional<default_scope> use;
  if (&c.totals.owner() != &default_graph()) use.emplace(c.totals.owner());
  const control_dependencies nothing{nullptr};
  const device near{"/cpu:0", where};  // a file takes these numbers, so they need no other device
  std::vector<expr<std::string>> all;
  for (std::size_t i = 0; i < c.told.size(); ++i) {
    const expr<std::int64_t> one = reshape(slice(c.totals, {static_cast<std::int64_t>(i)}, {1}), shape{});
    all.push_back(summary::scalar(c.name + "/" + std::string(c.told[i]), one, o, where));
  }
  all.push_back(summary::histogram_of_counts(c.name + "/" + std::string(c.lag), c.lags, o, where));
  return all;
}

}}}  // namespace pinion::v0::train
