// Bodies of <pinion/opkit/shape_context.hpp>.
#pragma once

#include <pinion/opkit/shape_context.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL const output_type& shape_context::type(int i) const {
  const auto k = static_cast<std::size_t>(i);
  return graph_ ? graph_->type_of(node_.inputs[k]) : inputs_[k];
}

PINION_DECL void shape_context::output(pinion::dtype type, const pinion::shape& extent, bool reference) {
  outputs_.push_back({type, extent, reference});
}

PINION_DECL void shape_context::expect_handle(int i, std::string_view what) const {
  if (!type(i).resource)
    fail(op() + " works on " + std::string(what) + "; its input " + std::to_string(i) + " is a value");
}

PINION_DECL void shape_context::fail(const std::string& sentence) const {
  throw error(errc::invalid_argument, sentence);
}

PINION_DECL void shape_context::expect_dtype(pinion::dtype type, dtype_set types) const {
  if (!types.has(type)) fail(op() + " of " + std::string(to_string(type)) + " is not defined; pn::cast converts");
}

PINION_DECL void shape_context::expect_same_dtype(int i, int k) const {
  if (dtype(i) != dtype(k))
    fail(op() + " of " + std::string(to_string(dtype(k))) + " and " + std::string(to_string(dtype(i))) +
         "; pn::cast converts one of them");
}
PINION_DECL void shape_context::expect_one_dtype(int first) const {
  for (int i = first + 1; i < inputs(); ++i) expect_same_dtype(i, first);
}

PINION_DECL void shape_context::expect_rank(int i, int rank, std::string_view what) const {
  if (shape(i).has_rank() && shape(i).rank() != rank)
    fail(std::string(what) + " must have " + std::to_string(rank) + " dimensions, but has shape " +
         to_string(shape(i)));
}

}}  // namespace pinion::v0
