// Bodies of <pinion/op/reduce/global_pool.hpp>.
#pragma once

#include <string>

#include <pinion/op/reduce/global_pool.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL axis_list axes_of_space(const char* function, const shape& x) {
  if (x.rank() < 3)
    throw error(errc::invalid_argument, std::string(function) + " of shape " + to_string(x) +
                                            "; it takes [n, ..., channels] of a known rank, with an axis between");
  axis_list axes;
  axes.all = false;
  for (int axis = 1; axis < x.rank() - 1; ++axis) axes.axes.push_back(axis);
  return axes;
}

}}}  // namespace pinion::v0::dsl
