// Names of what a dataset is made of, for headers that hand it on without knowing it: <pinion/data/cursor.hpp> does.
#pragma once

#include <memory>

namespace pinion { inline namespace v0 { namespace data {

class cursor;
class stage;
using cursor_ptr = std::unique_ptr<cursor>;
using stage_ptr = std::shared_ptr<const stage>;

}}}  // namespace pinion::v0::data
