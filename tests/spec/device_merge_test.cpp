// The rows of device_merge.tsv that nest only strings and specs, by the algebra of specs alone. All rows, policies too,
// run through guards on a graph in tests/graph/device_merge_policy_test.cpp.
#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/spec/device_spec.hpp>

#include "support/spec_table.hpp"

namespace pn = pinion;

namespace {

template <class... Text>
constexpr pn::device_spec merged(Text... outermost_first) {
  pn::device_spec spec;
  ((spec = merge(spec, pn::parse_device(outermost_first))), ...);
  return spec;
}

#define MERGES(expected, ...) static_assert(merged(__VA_ARGS__) == pn::parse_device(expected));
#include "device_merge_table.inc"
#undef MERGES

bool is_policy(std::string_view scope) {
  return scope.substr(0, 4) == "fn=>" || scope.substr(0, 6) == "merge:";
}

// What a scope lays under the request of an op inside it; a null scope hides everything outside it.
std::optional<pn::device_spec> entry_of(const std::string& scope) {
  if (scope == "None") return std::nullopt;
  if (scope.substr(0, 5) == "spec:") return spec_table::spec_of(scope);
  return pn::parse_device(spec_table::text_of(scope));
}

// Scopes are read as they are entered, outermost first, and walked from the inside when an op is made.
pn::device_spec requested(const std::vector<std::string>& scopes) {
  std::vector<std::optional<pn::device_spec>> entries;
  for (const std::string& scope : scopes) entries.push_back(entry_of(scope));
  pn::device_spec request;
  for (auto entry = entries.rbegin(); entry != entries.rend() && *entry; ++entry) request = merge(**entry, request);
  return request;
}

}  // namespace

TEST_CASE("every row of device_merge.tsv without a policy merges as its pinion column says") {
  for (const auto& row : spec_table::merge_rows(spec_table::folder())) {
    if (row.pinion == "n/a" || std::any_of(row.scopes.begin(), row.scopes.end(), is_policy)) continue;
    INFO("line " << row.line);
    CHECK(spec_table::outcome([&] { return requested(row.scopes); }) == row.pinion);
  }
}
