// Names of cursors and stages, for headers that hand them on without their definitions in <pinion/data/cursor.hpp>.
#pragma once

#include <memory>

namespace pinion { inline namespace v0 { namespace data {

class cursor;
class stage;
using cursor_ptr = std::unique_ptr<cursor>;
using stage_ptr = std::shared_ptr<const stage>;

}}}  // namespace pinion::v0::data
