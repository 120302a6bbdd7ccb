// Client threads: each of them repeats a step of its own, and they end together.
//
//   auto train = tr::replicate(workers, {.ps_tasks = 2}, [&](int i) { return build(i); });
//   tr::run_in_threads(int(train.size()), [&](int i) { sess.run(train[i]); return steps_left(); });
#pragma once

#include <functional>
#include <string>
#include <type_traits>

#include <pinion/train/coordinator.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Calls step(0), step(1), ..., each again and again in a thread of its own, until it returns false. Returns when all
// threads have ended. The first exception stops the other threads after the calls that are under way, and is thrown
// here. out_of_range, the end of the input, stops them too, but is not thrown. The steps may share a session.
template <class Step>
void run_in_threads(int threads, const Step& step) {
  static_assert(std::is_invocable_r_v<bool, const Step&, int>,
                "run_in_threads takes a function of the thread's number that says whether to go on");
  coordinator all;
  for (int i = 0; i < threads; ++i)
    all.launch("replica " + std::to_string(i), [&all, &step, i] {
      // A step may take another type of number; std::invoke converts to it, and a compiler does not warn of that here.
      while (!all.should_stop() && std::invoke(step, i)) continue;
    });
  all.join({.stop_grace_period = std::chrono::hours(24)});
}

}}}  // namespace pinion::v0::train
