// Bodies of <pinion/dsl/queues.hpp>.
#pragma once

#include <pinion/dsl/queues.hpp>

namespace pinion::inline v0 {

PINION_DECL expr<std::int32_t> any_queue::size(source_location where) const {
  return {drawn(), {node_of<op::queue_size>("size", {}, {}, where), 0}};
}

PINION_DECL expr<bool> any_queue::is_closed(source_location where) const {
  return {drawn(), {node_of<op::queue_is_closed>("is_closed", {}, {}, where), 0}};
}

PINION_DECL operation any_queue::close(const close_options& o, source_location where) const {
  const attributes attrs{{"cancel_pending_enqueues", o.cancel_pending_enqueues}};
  return {drawn(), node_of<op::queue_close>("close", {}, attrs, where)};
}

}  // namespace pinion::inline v0
