// The slots that an optimizer and its copies have made.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 { namespace train {

// A table of the variables that an optimizer made, by the variable that each belongs to (no_node: to all of them) and
// by name. Thread-safe. It does not keep graphs alive: when a new entry is made, the entries of graphs that are gone
// are dropped.
class slot_table {
 public:
  // The slot of a variable; no_node if there is none.
  node_id find(graph& g, node_id variable, std::string_view name) const {
    std::lock_guard hold(mutex_);
    const auto at = made_.find(key(g, variable, name));
    return at == made_.end() ? no_node : at->second;
  }
  // The slot of a variable; make() is called, without the lock, if there is none.
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

}}}  // namespace pinion::v0::train
