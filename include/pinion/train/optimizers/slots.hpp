// Slots: variables in which an optimizer keeps something of a trained variable from step to step.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 { namespace train {

class slot_table;  // defined in slot_table.hpp; shared by an optimizer and its copies
// Makes an empty table.
std::shared_ptr<slot_table> make_slot_table();
// The slot of a variable with that name; no_node if the optimizer has not made one.
node_id find_slot(const slot_table& made, graph& g, node_id variable, std::string_view name);
// The slot of a variable with that name; it is made on first use, as make_slot() makes it.
node_id find_or_make_slot(slot_table& made, graph& g, node_id variable, std::string_view name, const std::string& owner,
                          double value);

// Makes a variable with the shape and dtype of another, whose elements begin as `value`. It is named VARIABLE/OWNER and
// is on the same device, in the same container and shared in the same way. It is a global variable that is not trained.
// The slots of the parts of a partitioned variable are the parts of WHOLE/OWNER. Throws invalid_argument if the
// variable's shape is not fully known.
node_id make_slot(graph& g, node_id variable, const std::string& owner, double value);

// Makes a slot like make_slot, but of another shape; it is of no partitioned variable, whatever the variable is. Throws
// invalid_argument if the shape is not fully known.
node_id make_slot_of_shape(graph& g, node_id variable, const shape& extent, const std::string& owner, double value);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/slots.ipp>
#endif
