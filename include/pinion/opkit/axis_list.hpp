// A list of axes of a tensor, or all of them.
#pragma once

#include <cstdint>
#include <initializer_list>

#include <pinion/graph/attribute.hpp>

namespace pinion { inline namespace v0 {

// Names axes of a tensor: {0}, {0, -1}. A default one names all of them. A value; the op that takes it checks the axes.
//
// Braces without numbers are the default, all axes; the list of no axes is made by `all = false`.
struct axis_list {
  bool all = true;
  integers axes = {};

  axis_list() = default;
  axis_list(std::initializer_list<std::int64_t> some) : all(false), axes(some) {}
};

}}  // namespace pinion::v0
