// Bodies of <pinion/placement/simple_placer.hpp>.
#pragma once

#include <vector>

#include <pinion/placement/simple_placer.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// A generator makes a value out of nothing, as a constant does: it has no data inputs, and one output, no reference.
inline bool is_generator(const node& n) {
  return n.inputs.empty() && n.outputs.size() == 1 && !n.outputs[0].reference;
}

// Finds for each generator the one device that all of its consumers are on. Generators wait until the others are
// placed.
class common_consumers {
 public:
  static constexpr int none = -1, several = -2;

  explicit common_consumers(const placing& work)
      : work_(work), device_(work.problem().nodes.size(), none), waits_(work.problem().nodes.size(), false) {
    for (placing::position i = 0; i < device_.size(); ++i)
      waits_[i] = is_generator(work.groups().at(i)) && work.problem().kept.count(work.problem().nodes[i]) == 0;
  }
  bool waits(placing::position i) const { return waits_[i]; }
  // Requires: all nodes but the waiting ones are placed.
  void gather() {
    const placement_groups& groups = work_.groups();
    for (placing::position i = 0; i < device_.size(); ++i) {
      for (const output& in : groups.at(i).inputs) note(groups.position_of(in.node), i);
      for (const node_id c : groups.at(i).control_inputs) note(groups.position_of(c), i);
    }
  }
  int of(placing::position i) const { return device_[i]; }

 private:
  void note(placing::position from, placing::position consumer) {
    if (from == placement_groups::absent || !waits_[from]) return;
    const int device = waits_[consumer] ? several : work_.device_of_node(consumer);
    int& all = device_[from];
    all = all == none || all == device ? device : several;
  }

  const placing& work_;
  std::vector<int> device_;
  std::vector<bool> waits_;
};

}  // namespace detail

PINION_DECL placement simple_placer::operator()(const placement_problem& p) const {
  placing work(p);
  fill(work);
  return work.result();
}

PINION_DECL void simple_placer::fill(placing& work) const {
  const placement_groups& groups = work.groups();
  const std::size_t nodes = work.problem().nodes.size();
  detail::common_consumers consumers(work);
  const auto place = [&](placing::position i, int wished, std::string_view reason) {
    const auto g = groups.of(i);
    if (work.device_of(g) >= 0) return;
    const auto found = work.candidates(g);
    if (wished >= 0 && work.may_hold(g, wished))
      work.put(g, wished, reason);
    else
      work.put(g, found.front());
  };
  const auto first_input = [&](placing::position i) {
    const node& n = groups.at(i);
    const auto from = n.inputs.empty() ? placement_groups::absent : groups.position_of(n.inputs[0].node);
    return from == placement_groups::absent || consumers.waits(from) ? -1 : work.device_of_node(from);
  };
  for (placing::position i = 0; i < nodes; ++i)
    if (!consumers.waits(i)) place(i, groups.facts(i).metadata ? first_input(i) : -1, "with its input");
  consumers.gather();
  for (placing::position i = 0; i < nodes; ++i)
    if (consumers.waits(i)) place(i, consumers.of(i), "with its consumers");
}

}}  // namespace pinion::v0
