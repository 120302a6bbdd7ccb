// Placers that think little: everything on one device, and devices in turn. What others are measured by.
#pragma once

#include <algorithm>
#include <cstddef>

#include <pinion/placement/placing.hpp>

namespace pinion::inline v0 {

// Every group on one device where it may stand there, else on its first candidate.
struct one_device_placer {
  int device = 0;  // in problem.devices

  placement operator()(const placement_problem& p) const {
    placing work(p);
    fill(work);
    return work.result();
  }
  // The same on what is begun already.
  void fill(placing& work) const {
    for (const auto g : work.left()) work.put(g, work.may_hold(g, device) ? device : work.candidates(g).front());
  }
};

// Each group on the next of its candidates.
struct round_robin_placer {
  placement operator()(const placement_problem& p) const {
    placing work(p);
    fill(work);
    return work.result();
  }
  void fill(placing& work) const {
    std::size_t next = 0;
    for (const auto g : work.left()) {
      const auto found = work.candidates(g);
      work.put(g, found[next++ % found.size()]);
    }
  }
};

}  // namespace pinion::inline v0
