// Bodies of <pinion/graph/called_from.hpp>.
#pragma once

#include <pinion/graph/called_from.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL called_from::called_from(source_location where) : saved_(scope_state::current().caller) {
  if (!saved_.known()) scope_state::current().caller = where;
}

}}  // namespace pinion::v0
