// Bodies of <pinion/data/apply.hpp>.
#pragma once

#include <pinion/data/apply.hpp>

namespace pinion::inline v0::data::detail {

PINION_DECL std::shared_ptr<void> own(void* object, void (*destroy)(void*)) {
  return {object, destroy};
}

}  // namespace pinion::inline v0::data::detail
