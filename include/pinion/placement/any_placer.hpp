// The concept of a placer, and a placer of any type, which options hold.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/placement/placement.hpp>
#include <pinion/placement/problem.hpp>

namespace pinion { inline namespace v0 {

// A placer is a function object from a problem to a placement, which it builds with class placing.
template <class P>
concept placer = requires(const P& place, const placement_problem& problem) {
  { place(problem) } -> std::convertible_to<placement>;
};

// Owns a copy of a placer; an empty one is the simple placer. An exception of another type than pinion::error that the
// placer throws is thrown on as one. Calls are as safe among threads as those of the placer.
class any_placer {
 public:
  any_placer() = default;
  template <placer P>
  requires(!std::is_same_v<P, any_placer>) any_placer(P place) : place_(std::move(place)) {}

  explicit operator bool() const { return bool(place_); }
  placement operator()(const placement_problem& p) const;

 private:
  std::function<placement(const placement_problem&)> place_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/any_placer.ipp>
#endif
