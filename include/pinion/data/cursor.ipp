// Bodies of <pinion/data/cursor.hpp>.
#pragma once

#include <pinion/data/cursor.hpp>

namespace pinion { inline namespace v0 { namespace data {

PINION_DECL bool numbered_cursor::next(any_element& to) {
  if (!table_) return next_element(to);
  std::int64_t number = 0;
  if (next_numbers({&number, 1}) == 0) return false;
  table_->one(number, to);
  return true;
}

}}}  // namespace pinion::v0::data
