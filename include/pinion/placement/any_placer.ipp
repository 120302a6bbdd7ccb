// Bodies of <pinion/placement/any_placer.hpp>.
#pragma once

#include <pinion/placement/any_placer.hpp>
#include <pinion/placement/simple_placer.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL placement any_placer::operator()(const placement_problem& p) const {
  if (!place_) return simple_placer{}(p);
  try {
    return place_(p);
  } catch (const error&) {
    throw;
  } catch (...) {
    const error e = current_error();
    throw error(e.code(), "the session's placer threw: " + e.sentence());
  }
}

}}  // namespace pinion::v0
