// The part of a random op's kernel that is the same on every device.
#pragma once

#include <atomic>
#include <cstdint>
#include <random>

#include <pinion/op/random/bits.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The shape and the seed of a random op. It counts the executions: the n-th run of a session draws the n-th tensor.
// Thread-safe.
class random_draws {
 public:
  explicit random_draws(const attributes& attrs)
      : shape_(attrs.get_or("shape", shape::any())),
        first_(attrs.get_or<std::int64_t>("first", 0)),
        seed_(seed_of(attrs)) {}

  shape extent(const kernel_context& c) const { return c.inputs.empty() ? shape_ : c.input(0).shape(); }
  // The index of the first element within a larger tensor.
  std::int64_t first() const { return first_; }
  std::uint64_t next_execution() { return executions_.fetch_add(1, std::memory_order_relaxed); }
  random_stream of(std::uint64_t execution) const { return {seed_, execution}; }
  random_stream next() { return of(next_execution()); }
  // Tells whether a draw is worth another thread.
  bool many() const { return shape_.count() > 1 << 14; }

 private:
  static std::uint64_t seed_of(const attributes& attrs) {
    if (const auto seed = attrs.get_or<std::int64_t>("seed", 0)) return static_cast<std::uint64_t>(seed);
    std::random_device any;
    return std::uint64_t{any()} << 32 | any();
  }

  shape shape_;
  std::int64_t first_;
  std::uint64_t seed_;
  std::atomic<std::uint64_t> executions_{0};
};

}}}}  // namespace pinion::v0::op::detail
