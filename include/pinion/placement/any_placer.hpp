// A placer of any type, for options.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/placement/placement.hpp>
#include <pinion/placement/problem.hpp>

namespace pinion { inline namespace v0 {

// A placer: a function object from a problem to a placement; class placing is what it works with.
template <class P>
concept placer = requires(const P& place, const placement_problem& problem) {
  { place(problem) } -> std::convertible_to<placement>;
};

// A copy of a placer; empty: the simple one. What a placer throws that is no error of ours is made one.
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
