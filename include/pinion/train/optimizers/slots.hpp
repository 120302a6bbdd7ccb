// Slots: what an optimizer keeps of a variable from step to step, as variables beside it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <pinion/dsl/sources.hpp>
#include <pinion/dsl/variable_slices.hpp>

namespace pinion::inline v0::train {

// The variables that an optimizer made, by the variable that each belongs to (no_node: to all of them) and by name.
// Thread-safe. A graph that is gone is forgotten with it.
class slot_table {
 public:
  node_id find(graph& g, node_id variable, std::string_view name) const {
    std::lock_guard hold(mutex_);
    const auto at = made_.find(key(g, variable, name));
    return at == made_.end() ? no_node : at->second;
  }
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
  static key_type key(graph& g, node_id variable, std::string_view name) {
    return {g.lives(), variable, std::string(name)};
  }
  mutable std::mutex mutex_;
  std::map<key_type, node_id> made_;
};

// A variable of the shape and the dtype of another, at first VALUE everywhere: named VARIABLE/OWNER, on its device, in
// its container, and shared as it is. It is global state, but not trained. The slots of the parts of a partitioned
// variable are the parts of WHOLE/OWNER. Throws invalid_argument where the shape is not known.
inline node_id make_slot(graph& g, node_id variable, const std::string& owner, double value) {
  const node v = g[variable];
  if (!v.outputs[0].shape.known())
    throw error(errc::invalid_argument, "variable '" + v.name + "' has the shape " + to_string(v.outputs[0].shape) +
                                            "; an optimizer needs a known one for its slots")
        .at_node(v.name, v.op, to_string(v.where));
  const control_dependencies none{nullptr};
  const colocate_with near(operation(g, variable));
  const container box(v.attrs.get_or<std::string>("container", ""));
  const std::string name = g.unique_name(v.name + "/" + owner);
  const auto shared = v.attrs.get_or<std::string>("shared_name", "");
  const node_id slot = visit_plain(v.outputs[0].dtype, [&]<class T>() {
    tensor<T> initial(v.outputs[0].shape);
    for (T& x : initial.span()) x = static_cast<T>(value);
    auto request = dsl::constant_request(initial.untyped(), "", v.where);
    request.exact_name = name + "/initial_value";
    const node_id constant = build(g, std::move(request));
    return dsl::make_variable<T>(
               {constant, 0}, name,
               {.trainable = false, .shared_name = shared.empty() ? "" : shared + name.substr(v.name.size())}, v.where)
        .id();
  });
  if (const variable_slice* const part = slice_of(g, variable))
    note_slice(g, slot, {part->whole + name.substr(v.name.size()), part->extent, part->first});
  return slot;
}

}  // namespace pinion::inline v0::train
