// Does what must not be left out where memory runs out.
#pragma once

#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/outcome.hpp>

namespace pinion { inline namespace v0 {

// Calls a function that ends, cancels or gives back something, and again, a few times, if it throws, since memory is
// often there a moment later: others let go of theirs as they fail. Returns whether it has succeeded.
// Requires: the function goes on where it was broken off.
template <class F>
bool insist(const F& what) noexcept {
  constexpr int most = 4;
  for (int i = 0; i < most; ++i)
    if (outcome_of(what)) return true;
  return false;
}

}}  // namespace pinion::v0
