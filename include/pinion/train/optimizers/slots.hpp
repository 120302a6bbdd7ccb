// Slots: what an optimizer keeps of a variable from step to step, as variables beside it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

#include <pinion/base/config.hpp>
#include <pinion/dsl/sources.hpp>

namespace pinion::inline v0::train {

// The variables that an optimizer made, by the variable that each belongs to (no_node: to all of them) and by name.
// Thread-safe. A graph that is gone is forgotten with it.
class slot_table {
 public:
  node_id find(graph& g, node_id variable, std::string_view name) const;
  template <class Make>
  node_id find_or_make(graph& g, node_id variable, std::string_view name, Make make) {
    const node_id known = find(g, variable, name);
    if (known != no_node) return known;
    const node_id fresh = make();
    std::lock_guard hold(mutex_);
    std::erase_if(made_, [](const auto& entry) { return std::get<0>(entry.first)->at.load() == nullptr; });
    return made_[key(g, variable, name)] = fresh;
  }

 private:
  using key_type = std::tuple<std::shared_ptr<graph::life>, node_id, std::string>;
  static key_type key(graph& g, node_id variable, std::string_view name);
  mutable std::mutex mutex_;
  std::map<key_type, node_id> made_;
};

// A variable of the shape and the dtype of another, at first VALUE everywhere: named VARIABLE/OWNER, on its device, in
// its container, and shared as it is. It is global state, but not trained. The slots of the parts of a partitioned
// variable are the parts of WHOLE/OWNER. Throws invalid_argument where the shape is not known.
node_id make_slot(graph& g, node_id variable, const std::string& owner, double value);

}  // namespace pinion::inline v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/slots.ipp>
#endif
