// A loop whose bodies are bound to cells: an iteration moves no tensor.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <pinion/op/control/slice_stack.hpp>
#include <pinion/opkit/binding.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The bodies of a loop over small values. Its variables and invariants, and the slices of one iteration, have cells of
// their own, from which both bodies read. Used by one run at a time; refers to the steps, which it does not outlive.
class bound_loop {
 public:
  struct values {
    std::span<const any_tensor> variables, scanned, invariants;
  };

  // Binds the bodies. Returns null where they cannot be bound to values of these types, or where an iteration would
  // change the type of a variable. `condition` may be null.
  static std::unique_ptr<bound_loop> make(nested_step* condition, nested_step& body, const values& v) {
    std::unique_ptr<bound_loop> loop(new bound_loop);
    return loop->make_cells(v) && loop->bind(condition, body) ? std::move(loop) : nullptr;
  }
  // Tells whether it serves these values.
  bool is_of(const values& v) const {
    const auto fit = [](const std::vector<cell>& cells, std::span<const any_tensor> tensors) {
      return std::equal(cells.begin(), cells.end(), tensors.begin(), tensors.end(),
                        [](const cell& p, const any_tensor& t) { return p.is_of(t); });
    };
    const auto slice_fits = [](const cell& p, const any_tensor& t) {
      return p.dtype == t.dtype() && t.shape().rank() > 0 && p.shape == slice_shape(t.shape());
    };
    return fit(variables_, v.variables) && fit(invariants_, v.invariants) &&
           std::equal(slices_.begin(), slices_.end(), v.scanned.begin(), v.scanned.end(), slice_fits);
  }

  // Sets the variables and invariants.
  void begin(const values& v) {
    for (std::size_t i = 0; i < variables_.size(); ++i) variables_[i].fill(v.variables[i].raw());
    for (std::size_t i = 0; i < invariants_.size(); ++i) invariants_[i].fill(v.invariants[i].raw());
  }
  // Computes the condition.
  bool goes_on(const step_watch* watch) {
    condition_->run(watch);
    return *reinterpret_cast<const bool*>(condition_->results()[0].at);
  }
  // Sets the slices of an iteration.
  void scan(std::span<const any_tensor> scanned, std::int64_t slice) {
    for (std::size_t i = 0; i < slices_.size(); ++i)
      slices_[i].fill(scanned[i].byte_data() + static_cast<std::size_t>(slice) * slices_[i].bytes());
  }
  // Computes an iteration: its results are new values of the variables, then values that the loop keeps.
  void compute(const step_watch* watch) { body_->run(watch); }
  std::span<const cell> kept() const { return body_->results().subspan(variables_.size()); }
  // Makes the results of the iteration the variables' values.
  void go_on() {
    for (const auto& [from, to] : aside_) to.fill(from.at);
    for (const auto& [from, to] : moves_) to.fill(from.at);
  }
  std::span<const cell> variables() const { return variables_; }

  static shape slice_shape(const shape& all) {
    shape one;
    for (int i = 1; i < all.rank(); ++i) one.push_back(all[i]);
    return one;
  }

 private:
  bound_loop() = default;

  bool make_cell(std::vector<cell>& into, dtype type, const shape& extent) {
    if (!cell::fits(type, extent)) return false;
    cell& p = into.emplace_back(cell{.dtype = type, .shape = extent, .lasting = true});
    memory_.make_fresh(p);
    return true;
  }
  bool make_cells(const values& v) {
    const auto whole = [&](std::vector<cell>& into) {
      return [&](const any_tensor& t) { return !t.empty() && make_cell(into, t.dtype(), t.shape()); };
    };
    const auto slice = [&](const any_tensor& t) {
      return t.shape().rank() > 0 && make_cell(slices_, t.dtype(), slice_shape(t.shape()));
    };
    return std::all_of(v.variables.begin(), v.variables.end(), whole(variables_)) &&
           std::all_of(v.scanned.begin(), v.scanned.end(), slice) &&
           std::all_of(v.invariants.begin(), v.invariants.end(), whole(invariants_));
  }
  bool bind(nested_step* condition, nested_step& body) {
    std::vector<cell> arguments = variables_;
    arguments.insert(arguments.end(), slices_.begin(), slices_.end());
    arguments.insert(arguments.end(), invariants_.begin(), invariants_.end());
    if (!(body_ = body.bind(arguments))) return false;
    for (std::size_t i = 0; i < variables_.size(); ++i)
      if (!move_result(i)) return false;
    if (!condition) return true;
    std::vector<cell> of_condition = variables_;
    of_condition.insert(of_condition.end(), invariants_.begin(), invariants_.end());
    condition_ = condition->bind(of_condition);
    return condition_ && condition_->results()[0].dtype == dtype::boolean && condition_->results()[0].single();
  }
  // Notes the way of a result to its variable. One that is another variable's present value is put aside first, since
  // that variable may get its new value before.
  bool move_result(std::size_t i) {
    cell from = body_->results()[i];
    const cell& to = variables_[i];
    if (from.dtype != to.dtype || !(from.shape == to.shape)) return false;
    if (from.at == to.at) return true;
    if (std::any_of(variables_.begin(), variables_.end(), [&](const cell& v) { return v.at == from.at; })) {
      cell spare = to;
      memory_.make_fresh(spare);
      aside_.emplace_back(from, spare);
      from = spare;
    }
    moves_.emplace_back(from, to);
    return true;
  }

  cell_memory memory_;
  std::vector<cell> variables_, slices_, invariants_;
  std::unique_ptr<bound_body> condition_, body_;
  std::vector<std::pair<cell, cell>> aside_, moves_;
};

}}}}  // namespace pinion::v0::op::detail
