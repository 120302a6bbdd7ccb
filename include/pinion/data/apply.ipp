// Bodies of <pinion/data/apply.hpp>.
#pragma once

#include <pinion/data/apply.hpp>

namespace pinion { inline namespace v0 { namespace data { namespace detail {

PINION_DECL std::shared_ptr<void> own(void* object, void (*destroy)(void*)) {
  return {object, destroy};
}

}}}}  // namespace pinion::v0::data::detail
