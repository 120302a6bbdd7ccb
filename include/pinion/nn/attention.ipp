// Bodies of <pinion/nn/attention.hpp>.
#pragma once

#include <string>

#include <pinion/nn/attention.hpp>

namespace pinion { inline namespace v0 { namespace nn {

PINION_DECL detail::heads_of_attention::heads_of_attention(const any_expr& queries, const any_expr& keys,
                                                           const multi_head_attention_options& o)
    : width(unknown), heads(o.heads), key_heads(o.key_heads == 0 ? o.heads : o.key_heads), depth(o.depth) {
  for (const any_expr* x : {&keys, &queries}) {
    const shape& extent = x->shape();
    if (extent.rank() != 3 || extent[2] < 1)
      throw error(errc::invalid_argument, "multi_head_attention of '" + x->name() + "' of shape " + to_string(extent) +
                                              ": it takes [batch, length, width] of a known width");
    width = extent[2];
  }
  const bool fit = heads >= 1 && key_heads >= 1 && depth >= 0 && heads % key_heads == 0;
  if (!fit || (depth == 0 && width % heads != 0))
    throw error(errc::invalid_argument, "multi_head_attention of '" + queries.name() + "' of width " +
                                            std::to_string(width) + " by " + std::to_string(heads) + " heads, " +
                                            std::to_string(key_heads) + " of keys, of depth " + std::to_string(depth) +
                                            ": the heads go into the width unless a depth is given, and those of "
                                            "keys into the heads");
  if (depth == 0) depth = width / heads;
}

}}}  // namespace pinion::v0::nn
