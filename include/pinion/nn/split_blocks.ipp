// Bodies of <pinion/nn/split_blocks.hpp>.
#pragma once

#include <string>

#include <pinion/nn/split_blocks.hpp>

namespace pinion { inline namespace v0 { namespace nn { namespace detail {

PINION_DECL shares::shares(std::int64_t units, const std::vector<std::string>& devices, std::string_view what)
    : units_(units), count_(static_cast<std::int64_t>(devices.size())) {
  if (count_ == 0 || units < count_)
    throw error(errc::invalid_argument, "a layer of " + std::to_string(units) + " " + std::string(what) +
                                            " cannot be split over " + std::to_string(count_) +
                                            " devices; each takes at least one");
}

PINION_DECL any_expr mask_of_heads(const any_expr& mask, std::int64_t first, std::int64_t heads,
                                   source_location where) {
  if (mask.empty()) return mask;
  const shape extent = mask.shape();
  if (!extent.has_rank())
    throw error(errc::invalid_argument, "the mask '" + mask.name() +
                                            "' of attention that is split has no known rank; it says whether heads "
                                            "have masks of their own");
  const int axis = extent.rank() - 3;
  if (axis < 0 || extent[axis] == 1) return mask;
  integers begin(static_cast<std::size_t>(extent.rank()), 0), size(begin.size(), -1);
  begin[static_cast<std::size_t>(axis)] = first;
  size[static_cast<std::size_t>(axis)] = heads;
  const any_expr here = dsl::endpoint_of(mask, where);
  graph& g = here.owner();
  return {g, dsl::make_node(g, op::slice::name, "mask", where, {{"begin", begin}, {"size", size}}, {here.endpoint(g)})};
}

}}}}  // namespace pinion::v0::nn::detail
