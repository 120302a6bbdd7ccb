// Bodies of <pinion/data/map.hpp>.
#pragma once

#include <pinion/data/map.hpp>

namespace pinion { inline namespace v0 { namespace data {

PINION_DECL bool filter_cursor::next(any_element& to) {
  while (!stop_.stop_requested()) {
    if (!from_->next(to)) return false;
    if (keep_(to)) return true;
  }
  return false;
}

}}}  // namespace pinion::v0::data
