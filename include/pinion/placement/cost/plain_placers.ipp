// Bodies of <pinion/placement/cost/plain_placers.hpp>.
#pragma once

#include <cstddef>

#include <pinion/placement/cost/plain_placers.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL placement one_device_placer::operator()(const placement_problem& p) const {
  placing work(p);
  fill(work);
  return work.result();
}

PINION_DECL void one_device_placer::fill(placing& work) const {
  for (const auto g : work.left()) work.put(g, work.may_hold(g, device) ? device : work.candidates(g).front());
}

PINION_DECL placement round_robin_placer::operator()(const placement_problem& p) const {
  placing work(p);
  fill(work);
  return work.result();
}

PINION_DECL void round_robin_placer::fill(placing& work) const {
  std::size_t next = 0;
  for (const auto g : work.left()) {
    const auto found = work.candidates(g);
    work.put(g, found[next++ % found.size()]);
  }
}

}}  // namespace pinion::v0
