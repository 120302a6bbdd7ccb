// Bodies of <pinion/placement/cost/cost_placer.hpp>.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <pinion/placement/cost/cost_placer.hpp>
#include <pinion/placement/cost/earliest_finish.hpp>
#include <pinion/placement/cost/plain_placers.hpp>
#include <pinion/placement/cost/simulate.hpp>
#include <pinion/placement/simple_placer.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// Tries placements of one problem by simulation, and keeps the best.
class cost_search {
 public:
  cost_search(const placement_problem& p, const cost_model& model)
      : p_(p), fixed_(p), costs_(p, fixed_.groups(), model), simulate_(costs_), groups_(fixed_.groups()) {}

  // `fill` gives a device to every group that has none.
  template <class Fill>
  void attempt(const Fill& fill) {
    offer(placed_by(fill));
  }
  // The placement that is kept where no other gains enough.
  void attempt_usual() {
    usual_ = placed_by([](placing& work) { simple_placer{}.fill(work); });
    offer(usual_);
  }
  // Takes back moves that gain too little, all at once or one by one.
  void return_groups(double budget, double least_gain) {
    const double part = costs_.estimated_part(best_);
    const double error = costs_.error_of_estimates() * std::min(part, 1 - part);
    const double most = makespan_ / (1 - std::max(least_gain, error));
    const double each = static_cast<double>(costs_.nodes()) + edges();
    if (try_placed(usual_, most)) return;
    for (const auto g : fixed_.left()) {
      if (const auto first = groups_.members(g)[0]; best_[first] == usual_[first]) continue;
      if ((budget -= each) < 0) return;
      trial_ = best_;
      for (const auto m : groups_.members(g)) trial_[m] = usual_[m];
      try_placed(trial_, most);
    }
  }
  void list(list_order order) {
    attempt([&](placing& work) { earliest_finish(costs_, work).run(order); });
  }
  // Takes the first better device of each group, over and over; to look for the best one is not worth the time.
  void move_groups(double budget) {
    const double each = static_cast<double>(costs_.nodes()) + edges();
    for (bool better = true; better;) {
      better = false;
      for (const auto g : fixed_.left())
        for (const int d : fixed_.candidates(g)) {
          if (d == best_[groups_.members(g)[0]]) continue;
          if ((budget -= each) < 0) return;
          better = try_moved(g, d) || better;
        }
    }
  }
  // Moves two groups at once, as the ends of a heavy edge: one alone may gain nothing.
  void move_pairs(double budget) {
    const double each = static_cast<double>(costs_.nodes()) + edges();
    for (step_costs::position i = 0; i < costs_.nodes(); ++i)
      for (const auto& e : costs_.consumers(i)) {
        const auto a = groups_.of(i), b = groups_.of(e.node);
        if (a == b || fixed_.device_of(a) >= 0 || fixed_.device_of(b) >= 0) continue;
        for (const int d : fixed_.candidates(a)) {
          if (!fixed_.may_hold(b, d)) continue;
          if ((budget -= each) < 0) return;
          try_moved(a, d, b);
        }
      }
  }

  bool found() const { return found_; }
  const std::string& too_big() const { return too_big_; }

  placement result(bool tell, std::shared_ptr<const cost_model> by) {
    const simulated_step s = tell ? pinion::simulate(costs_, best_) : simulated_step{};
    for (const auto g : fixed_.left()) {
      const auto first = groups_.members(g)[0];
      fixed_.put(g, best_[first], tell ? reason(last_finish(s, g)) : "cost");
    }
    return fixed_.result(std::move(by));
  }

 private:
  template <class Fill>
  std::vector<std::int32_t> placed_by(const Fill& fill) {
    fixed_.start_over();
    fill(fixed_);
    std::vector<std::int32_t> device(costs_.nodes());
    for (step_costs::position i = 0; i < costs_.nodes(); ++i) device[i] = fixed_.device_of_node(i);
    fixed_.start_over();
    return device;
  }
  double edges() const {
    double sum = 0;
    for (step_costs::position i = 0; i < costs_.nodes(); ++i) sum += static_cast<double>(costs_.inputs(i).size());
    return sum;
  }
  double last_finish(const simulated_step& s, placing::group g) const {
    double last = 0;
    for (const auto m : groups_.members(g)) last = std::max(last, s.finish[m]);
    return last;
  }
  static std::string reason(double done) {
    return done == 0 ? "cost: where it is needed" : fmt::format("cost: done {:.1f} us into the step", done * 1e6);
  }

  void offer(std::vector<std::int32_t> device) {
    const double t = simulate_(device);
    if ((t < makespan_ || !found_) && fits(device)) {
      found_ = true;
      makespan_ = t;
      best_ = std::move(device);
    }
  }
  // The bytes that nodes read of other devices.
  double crossing(const std::vector<std::int32_t>& device) const {
    double bytes = 0;
    for (step_costs::position i = 0; i < costs_.nodes(); ++i)
      for (const auto& e : costs_.consumers(i))
        if (device[e.node] != device[i]) bytes += e.bytes;
    return bytes;
  }
  // Takes a placement whose step is no longer than that, if no more bytes cross between its devices.
  bool try_placed(const std::vector<std::int32_t>& device, double most) {
    const double t = simulate_(device);
    if (t > most || crossing(device) > crossing(best_) || !fits(device)) return false;
    makespan_ = t;
    best_ = device;
    return true;
  }
  bool try_moved(placing::group g, int d, std::optional<placing::group> other = std::nullopt) {
    trial_ = best_;
    for (const auto m : groups_.members(g)) trial_[m] = d;
    if (other)
      for (const auto m : groups_.members(*other)) trial_[m] = d;
    const double t = simulate_(trial_);
    if (t >= makespan_ * (1 - 1e-12) || !fits(trial_)) return false;
    makespan_ = t;
    best_ = trial_;
    return true;
  }
  bool fits(const std::vector<std::int32_t>& device) {
    const bool limited = std::any_of(p_.devices.begin(), p_.devices.end(),
                                     [](const device_info& d) { return d.memory_is_limited && d.memory_limit > 0; });
    if (!limited) return true;
    const simulated_step s = pinion::simulate(costs_, device);
    for (int d = 0; d < costs_.devices(); ++d) {
      const auto limit = costs_.memory_limit(d), peak = s.peak[static_cast<std::size_t>(d)];
      if (limit <= 0 || peak <= limit) continue;
      too_big_ = p_.devices[static_cast<std::size_t>(d)].name + " would need " + std::to_string(peak) + " of its " +
                 std::to_string(limit) + " bytes";
      return false;
    }
    return true;
  }

  const placement_problem& p_;
  placing fixed_;  // between attempts it holds only the groups that an earlier run fixed
  step_costs costs_;
  makespan_simulator simulate_;
  const placement_groups& groups_;
  std::vector<std::int32_t> best_, trial_, usual_;
  double makespan_ = std::numeric_limits<double>::infinity();
  bool found_ = false;
  std::string too_big_;
};

}  // namespace detail

PINION_DECL placement cost_placer::operator()(const placement_problem& p) const {
  detail::cost_search search(p, costs);
  search.list(list_order::simulated_time);
  const bool small = p.nodes.size() <= search_limit;
  if (small) {
    search.list(list_order::upward_rank);
    if (p.devices.size() <= 64)
      for (int d = 0; d < static_cast<int>(p.devices.size()); ++d)
        search.attempt([d](placing& work) { one_device_placer{d}.fill(work); });
    search.attempt_usual();
    search.attempt([](placing& work) { round_robin_placer{}.fill(work); });
  }
  if (!search.found())
    throw error(errc::resource_exhausted, "the step does not fit into the memory of the devices: " + search.too_big());
  if (small) {
    search.move_groups(search_work);
    search.move_pairs(search_work);
    search.move_groups(search_work);
    search.return_groups(search_work, least_gain);
  }
  return search.result(small, std::make_shared<const cost_model>(costs));
}

}}  // namespace pinion::v0
