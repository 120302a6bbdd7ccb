// Slots: what an optimizer keeps of a variable from step to step, as variables beside it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 { namespace train {

class slot_table;  // in slot_table.hpp; of an optimizer and its copies
std::shared_ptr<slot_table> make_slot_table();
// The slot of that name; no_node where the optimizer has not made one.
node_id find_slot(const slot_table& made, graph& g, node_id variable, std::string_view name);
// This one makes the slot on first use, as make_slot() does it.
node_id find_or_make_slot(slot_table& made, graph& g, node_id variable, std::string_view name, const std::string& owner,
                          double value);

// A variable of the shape and the dtype of another, at first VALUE everywhere: named VARIABLE/OWNER, on its device, in
// its container, and shared as it is. It is global state, but not trained. The slots of the parts of a partitioned
// variable are the parts of WHOLE/OWNER. Throws invalid_argument where the shape is not known.
node_id make_slot(graph& g, node_id variable, const std::string& owner, double value);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/slots.ipp>
#endif
