// Bodies of <pinion/placement/cost/step_costs.hpp>.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include <pinion/base/arithmetic.hpp>
#include <pinion/placement/cost/step_costs.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL std::span<const step_costs::edge> step_costs::inputs(position i) const {
  return {in_.data() + in_begin_[i], in_begin_[i + 1] - in_begin_[i]};
}

PINION_DECL std::span<const step_costs::edge> step_costs::consumers(position i) const {
  return {out_.data() + out_begin_[i], out_begin_[i + 1] - out_begin_[i]};
}

PINION_DECL double step_costs::estimated(position i, std::size_t c) const {
  if (free_[i]) return 0;
  const device_speed& s = speeds_[c];
  return s.launch + std::max(work_[i] / s.flops, touched_[i] / s.memory_bandwidth);
}

PINION_DECL double step_costs::seconds_of_class(position i, int c) const {
  const double known = measured(i, static_cast<std::size_t>(c));
  return known >= 0 ? known : estimated(i, static_cast<std::size_t>(c));
}

PINION_DECL double step_costs::error_of_estimates() const {
  double off = 0, all = 0;
  for (position i = 0; i < nodes(); ++i)
    for (std::size_t c = 0; c < speeds_.size(); ++c)
      if (const double known = measured(i, c); known >= 0) {
        off += std::abs(known - estimated(i, c));
        all += std::max(known, estimated(i, c));
      }
  return all > 0 ? off / all : 0;
}

PINION_DECL double step_costs::estimated_part(std::span<const std::int32_t> device) const {
  double part = 0, all = 0;
  for (position i = 0; i < nodes(); ++i) {
    const double s = seconds(i, device[i]);
    all += s;
    if (measured(i, static_cast<std::size_t>(class_of(device[i]))) < 0) part += s;
  }
  return all > 0 ? part / all : 0;
}

PINION_DECL double step_costs::mean_seconds(position i) const {
  double sum = 0;
  for (int c = 0; c < classes(); ++c) sum += seconds_of_class(i, c);
  return sum / classes();
}

PINION_DECL double step_costs::transfer(int from, int to, double bytes) const {
  if (from == to) return 0;
  if (model_.link) return model_.link(device(from), device(to)).seconds(bytes);
  return (task_of(from) == task_of(to) ? model_.within_task : model_.between_tasks).seconds(bytes);
}

PINION_DECL double step_costs::mean_transfer(double bytes) const {
  if (devices() == 1) return 0;
  return share_within_ * model_.within_task.seconds(bytes) + (1 - share_within_) * model_.between_tasks.seconds(bytes);
}

PINION_DECL std::int64_t step_costs::memory_limit(int device) const {  // 0: none
  return this->device(device).memory_is_limited ? this->device(device).memory_limit : 0;
}

PINION_DECL step_costs::step_costs(const placement_problem& p, const placement_groups& groups, const cost_model& model)
    : p_(p), model_(model) {
  know_all(groups);
}

namespace detail {

// The groups of nodes that are placed.
class placed_groups {
 public:
  using position = step_costs::position;

  placed_groups(const placement_problem& p, const placement& placed)
      : p_(p), placed_(placed), position_of_(static_cast<std::size_t>(p.graph.size()), placement_groups::absent) {
    for (position i = 0; i < p.nodes.size(); ++i) position_of_[static_cast<std::size_t>(p.nodes[i])] = i;
  }
  std::uint32_t of(position i) const { return placed_.group(i); }
  position position_of(node_id id) const { return position_of_[static_cast<std::size_t>(id)]; }
  const op_facts& facts(position i) const { return p_.ops.facts(p_.graph[p_.nodes[i]]); }

 private:
  const placement_problem& p_;
  const placement& placed_;
  std::vector<position> position_of_;
};

}  // namespace detail

PINION_DECL step_costs::step_costs(const placement_problem& p, const placement& placed, const cost_model& model)
    : p_(p), model_(model) {
  know_all(detail::placed_groups(p, placed));
}

template <class Groups>
void step_costs::know_all(const Groups& groups) {
  for (const link_speed& l : {model_.within_task, model_.between_tasks})
    if (!(l.bandwidth > 0) || !(l.latency >= 0))
      throw error(errc::invalid_argument, "a link of a cost model has no bandwidth, or a latency below 0");
  know_devices();
  know_nodes(groups);
  know_edges(groups);
  know_measurements();
}

inline void step_costs::know_devices() {
  std::map<std::tuple<std::string, double, double, double>, int> classes;
  std::map<std::tuple<std::string, int, int>, int> tasks;
  for (int d = 0; d < devices(); ++d) {
    const device_spec& spec = device(d).spec;
    const device_speed s = speed_of(device(d));
    const auto [c, new_class] = classes.try_emplace({std::string(spec.type()), s.flops, s.memory_bandwidth, s.launch},
                                                    static_cast<int>(speeds_.size()));
    if (new_class) {
      speeds_.push_back(s);
      types_.emplace_back(spec.type());
    }
    class_.push_back(c->second);
    const auto [t, new_task] =
        tasks.try_emplace({std::string(spec.job()), spec.replica(), spec.task()}, static_cast<int>(by_task_.size()));
    if (new_task) by_task_.emplace_back();
    task_.push_back(t->second);
    by_task_[static_cast<std::size_t>(t->second)].push_back(d);
  }
  double within = 0;
  for (const auto& own : by_task_) within += static_cast<double>(own.size() * (own.size() - 1));
  if (devices() > 1) share_within_ = within / (static_cast<double>(devices()) * (devices() - 1));
}

template <class Groups>
void step_costs::know_nodes(const Groups& groups) {
  const position n = nodes();
  work_.resize(n);
  touched_.resize(n);
  free_.resize(n);
  bytes_out_.resize(n);
  state_.resize(n);
  for (position i = 0; i < n; ++i) {
    const node& it = at(i);
    const work_context sizes(p_.graph, it, model_.unknown_extent);
    bool values = false, foreign = false;
    double touched = 0;
    for (int k = 0; k < sizes.inputs(); ++k) {
      const position from = groups.position_of(it.inputs[static_cast<std::size_t>(k)].node);
      const output_type& t = sizes.input(k);
      if (t.reference || t.resource) {
        foreign = foreign || from == placement_groups::absent || groups.of(from) != groups.of(i);
        continue;
      }
      values = true;
      touched += sizes.bytes(t);
    }
    for (int k = 0; k < sizes.outputs(); ++k) {
      const output_type& t = sizes.output(k);
      const auto bytes = static_cast<std::int64_t>(std::min(sizes.bytes(t), 0x1p62));
      if (t.reference)
        state_[i] = saturated_sum(state_[i], bytes);
      else if (!t.resource)
        bytes_out_[i] = saturated_sum(bytes_out_[i], bytes);
    }
    const bool stateful_source = groups.facts(i).stateful && state_[i] == 0;
    free_[i] = !values && !foreign && !stateful_source && it.control_inputs.empty();
    touched_[i] = touched + static_cast<double>(bytes_out_[i]);
    work_[i] = p_.ops.work(it, sizes);
  }
}

template <class Groups>
void step_costs::know_edges(const Groups& groups) {
  const position n = nodes();
  in_begin_.assign(n + 1, 0);
  out_begin_.assign(n + 1, 0);
  const auto each = [&](position i, auto&& take) {
    const node& it = at(i);
    for (const output& o : it.inputs)
      if (const position from = groups.position_of(o.node); from != placement_groups::absent) take(from, o.index);
    for (const node_id c : it.control_inputs)
      if (const position from = groups.position_of(c); from != placement_groups::absent) take(from, -1);
  };
  for (position i = 0; i < n; ++i)
    each(i, [&](position from, int) {
      ++in_begin_[i + 1];
      ++out_begin_[from + 1];
    });
  std::partial_sum(in_begin_.begin(), in_begin_.end(), in_begin_.begin());
  std::partial_sum(out_begin_.begin(), out_begin_.end(), out_begin_.begin());
  in_.resize(in_begin_[n]);
  out_.resize(out_begin_[n]);
  auto next_in = in_begin_, next_out = out_begin_;
  for (position i = 0; i < n; ++i)
    each(i, [&](position from, int o) {
      float bytes = 0;
      if (o >= 0) {
        const node& producer = at(from);
        const output_type& t = producer.outputs[static_cast<std::size_t>(o)];
        if (!t.reference && !t.resource)
          bytes = static_cast<float>(work_context(p_.graph, producer, model_.unknown_extent).bytes(t));
      }
      in_[next_in[i]++] = {from, o, bytes};
      out_[next_out[from]++] = {i, o, bytes};
    });
}

inline void step_costs::know_measurements() {
  if (model_.measured.empty()) return;
  measured_.assign(nodes() * speeds_.size(), -1.);
  for (position i = 0; i < nodes(); ++i)
    for (std::size_t c = 0; c < speeds_.size(); ++c)
      if (const auto* e = model_.measured.find(at(i).name, types_[c])) measured_[i * speeds_.size() + c] = e->seconds;
}

}}  // namespace pinion::v0
