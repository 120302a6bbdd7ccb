// Bodies of <pinion/data/threads.hpp>.
#pragma once

#include <pinion/data/threads.hpp>

namespace pinion::inline v0::data {

PINION_DECL void workers::join() {
  stop_.request();
  for (std::thread& t : threads_) t.join();
  threads_.clear();
}

}  // namespace pinion::inline v0::data
