// Bodies of <pinion/train/summary/summary.hpp>.
#pragma once

#include <algorithm>

#include <pinion/opkit/build.hpp>
#include <pinion/train/summary/summary.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace summary { namespace detail {

PINION_DECL std::string unique_tag(const graph& g, const std::string& wanted) {
  const auto taken = [&](const std::string& tag) {
    const auto& known = g.collection(tagged);
    return std::any_of(known.begin(), known.end(),
                       [&](node_id id) { return g.peek(id).attrs.get<std::string>("tag") == tag; });
  };
  std::string tag = wanted;
  for (int n = 1; taken(tag); ++n) tag = wanted + "_" + std::to_string(n);
  return tag;
}

PINION_DECL std::string node_name_of(std::string_view tag) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
  };
  std::string name(tag);
  for (char& c : name)
    if (!plain(c) && c != '-' && c != '/') c = '_';
  name.erase(name.begin(), std::find_if(name.begin(), name.end(), plain));
  return name;
}

}}}}}  // namespace pinion::v0::train::summary::detail

namespace pinion { inline namespace v0 { namespace train { namespace summary {

PINION_DECL expr<std::string> merge(const std::vector<expr<std::string>>& summaries, std::string_view name,
                                    source_location where) {
  if (summaries.empty()) throw error(errc::invalid_argument, "merge was given no summaries");
  graph& g = dsl::graph_of(summaries[0]);
  node_request request{.op = op::merge_summary::name,
                       .base_name = std::string(name.empty() ? op::merge_summary::name : name),
                       .where = where};
  for (const auto& s : summaries) {
    request.inputs.push_back(dsl::endpoint_of(s, where).endpoint(g, "the first summary's"));
  }
  return {g, {build(g, std::move(request)), 0}};
}

PINION_DECL expr<std::string> merge_all(std::string_view collection, source_location where) {
  graph& g = default_graph();
  std::vector<expr<std::string>> found;
  for (const node_id id : g.collection(std::string(collection))) found.push_back({g, {id, 0}});
  if (found.empty())
    throw error(errc::failed_precondition, "collection '" + std::string(collection) +
                                               "' of the default graph has no summaries to merge; "
                                               "tr::summary::scalar(\"loss\", loss) makes one");
  return merge(found, {}, where);
}

}}}}  // namespace pinion::v0::train::summary
