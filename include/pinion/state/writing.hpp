// The variables of an update, locked while it writes them.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <pinion/state/variable.hpp>

namespace pinion { inline namespace v0 { namespace state {

// The variables that a kernel updates, in the order of its inputs, and in the order in which all updates lock them.
// Immutable; its kernel owns it. Requires: there are at most `most`.
class updated_variables {
 public:
  static constexpr std::size_t most = 32;

  explicit updated_variables(std::vector<std::shared_ptr<variable>> all) : all_(std::move(all)), by_address_(all_) {
    std::sort(by_address_.begin(), by_address_.end());
  }
  std::size_t size() const { return all_.size(); }
  variable& operator[](std::size_t i) const { return *all_[i]; }
  const std::vector<std::shared_ptr<variable>>& by_address() const { return by_address_; }

 private:
  std::vector<std::shared_ptr<variable>> all_, by_address_;
};

// One update. It holds the locks of its variables, and takes no memory from the heap where nobody reads these; belongs
// to one thread. Throws failed_precondition for a variable without a value.
class writing {
 public:
  // Requires: the variables outlive it.
  explicit writing(const updated_variables& variables) : variables_(variables), locks_(variables) {
    for (std::size_t i = 0; i < variables.size(); ++i) variables[i].expect_value();
  }

  const any_tensor& old_value(std::size_t i) const { return variables_[i].value_; }
  // Gives a variable memory for its new value, and returns it: that of the old value if nobody reads it, otherwise new
  // memory. Requires: it is called once for each variable.
  const any_tensor& make_room(std::size_t i, allocator& memory) {
    const any_tensor& old = old_value(i);
    if (old.unique()) return old;
    if (!fresh_) fresh_.emplace();
    return (*fresh_)[i] = any_tensor(old.dtype(), old.shape(), memory, variables_[i].name());
  }
  // The memory that a variable was given. Requires: make_room() was called for it.
  const any_tensor& room(std::size_t i) const { return in_place(i) ? old_value(i) : (*fresh_)[i]; }
  bool in_place(std::size_t i) const { return !fresh_ || !(*fresh_)[i]; }
  // Makes the memory that was given to variables their values.
  void publish() {
    for (std::size_t i = 0; i < variables_.size(); ++i)
      if (!in_place(i)) variables_[i].value_ = std::move((*fresh_)[i]);
  }

 private:
  struct locks {
    explicit locks(const updated_variables& variables) : of(variables) {
      for (const auto& v : of.by_address()) v->mutex_.lock();
    }
    locks(const locks&) = delete;
    ~locks() {
      for (const auto& v : of.by_address()) v->mutex_.unlock();
    }
    const updated_variables& of;
  };

  const updated_variables& variables_;
  const locks locks_;
  std::optional<std::array<any_tensor, updated_variables::most>> fresh_;  // of those that are not updated in place
};

}}}  // namespace pinion::v0::state
