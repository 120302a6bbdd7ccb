// The state behind a variable's name: a snapshot that readers share and updates replace.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <pinion/opkit/kernel.hpp>
#include <pinion/state/find.hpp>

namespace pinion { inline namespace v0 { namespace state {

// Is it the error of a read of a variable that has no value yet? Workers read until their chief has given them some.
inline constexpr std::string_view too_early = "' is used before it was initialised; ";
inline bool is_too_early(const error& e) {
  return e.code() == errc::failed_precondition && e.sentence().find(too_early) != std::string::npos;
}

// Owned by the task's resource manager and by the kernels that use it. Thread-safe. A read shares the buffer. An update
// holds the lock for its whole write; it writes in place if no reader holds the buffer, and otherwise into a second one
// that it then publishes. So a reader's tensor never changes under it, and an update is atomic. Its device and its
// bytes are told without that lock, since an update may take long, or never end.
class variable final : public resource {
 public:
  variable(std::string name, pinion::dtype type, const pinion::shape& extent, std::string made_at)
      : name_(std::move(name)), type_(type), shape_(extent), made_at_(std::move(made_at)) {}

  const std::string& name() const { return name_; }
  pinion::dtype dtype() const { return type_; }
  const pinion::shape& shape() const { return shape_; }
  const std::string& made_at() const { return made_at_; }

  // The device whose kernels named it first; "" before that. Bodies of control flow name it on that device.
  std::string device() const {
    std::lock_guard hold(naming_);
    return device_;
  }
  void named_on(const std::string& device) {
    std::lock_guard hold(naming_);
    if (device_.empty()) device_ = device;
  }

  // The value, empty before the first, and the device as above.
  struct snapshot {
    any_tensor value;
    std::string device;
  };
  // Returns nothing where an update that has begun has not ended by that time. It asks again and again: a timed
  // mutex is not known to ThreadSanitizer.
  std::optional<snapshot> snapshot_by(std::chrono::steady_clock::time_point until) const {
    std::unique_lock hold(mutex_, std::try_to_lock);
    for (; !hold; static_cast<void>(hold.try_lock())) {
      if (std::chrono::steady_clock::now() >= until) return std::nullopt;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return snapshot{value_, device()};
  }
  any_tensor read() const {
    std::lock_guard hold(mutex_);
    expect_value();
    return value_;
  }
  std::int64_t bytes() const override { return bytes_.load(std::memory_order_relaxed); }
  bool initialised() const {
    std::lock_guard hold(mutex_);
    return bool(value_);
  }
  // Sets the value, and returns the one before.
  any_tensor assign(any_tensor value) {
    if (!fits(value.shape(), shape_))
      throw error(errc::invalid_argument, "a value of shape " + to_string(value.shape()) +
                                              " cannot be assigned to variable '" + name_ + "' of shape " +
                                              to_string(shape_));
    value.held_by(name_);
    std::lock_guard hold(mutex_);
    return replace(std::move(value));
  }
  // Restores `before` if `value` is still held.
  void withdraw(const any_tensor& value, const any_tensor& before) {
    std::lock_guard hold(mutex_);
    if (value_ && value_.raw() == value.raw()) replace(before);
  }

 private:
  friend class writing;

  // Requires: the lock is held.
  any_tensor replace(any_tensor value) {
    bytes_.store(value ? static_cast<std::int64_t>(value.bytes()) : 0, std::memory_order_relaxed);
    return std::exchange(value_, std::move(value));
  }
  void expect_value() const {
    if (!value_)
      throw error(errc::failed_precondition, "variable '" + name_ + std::string(too_early) +
                                                 "run its initializer() or pn::global_variables_initializer() first");
  }
  const std::string name_;
  const pinion::dtype type_;
  const pinion::shape shape_;
  const std::string made_at_;
  mutable std::mutex mutex_, naming_;  // of the value; of the device
  std::string device_;
  any_tensor value_;
  std::atomic<std::int64_t> bytes_{0};  // of the value; updates keep its dtype and shape
};

inline std::string type_text(const node& n) {
  return std::string(to_string(n.attrs.get<dtype>("dtype"))) + " " + to_string(n.attrs.get<shape>("shape"));
}
// Tells whether two VariableV2 nodes may name the same state.
inline bool agree(const node& a, const node& b) {
  return a.attrs.get<dtype>("dtype") == b.attrs.get<dtype>("dtype") &&
         fits(a.attrs.get<shape>("shape"), b.attrs.get<shape>("shape"));
}

// The state that a VariableV2 node names, made on first use. Throws invalid_argument where another node of that name
// disagrees on dtype or shape.
inline std::shared_ptr<variable> find_variable(task_services& services, const node& n) {
  const auto type = n.attrs.get<dtype>("dtype");
  const auto& extent = n.attrs.get<shape>("shape");
  const auto state = find<variable>(services, n, "a variable", [&](const std::string& name) {
    return std::make_shared<variable>(name, type, extent, to_string(n.where));
  });
  if (state->dtype() != type || !fits(state->shape(), extent))
    throw made_otherwise(*state, "variables", "not their type", type_text(n),
                         std::string(to_string(state->dtype())) + " " + to_string(state->shape()));
  return state;
}

}}}  // namespace pinion::v0::state
