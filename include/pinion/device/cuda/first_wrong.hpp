// The word of a step's device memory in which CUDA kernels leave what is wrong with values.
#pragma once

namespace pinion { inline namespace v0 { namespace cuda {

// The first wrong value that a kernel met: its position, or ~0 where there is none, and the value itself. A kernel that
// meets one lowers the position by atomicMin and goes on with a value that does no harm.
struct first_wrong {
  unsigned long long position;
  long long value;
};

// Some of these, one behind the other. Updates of variables write nothing if one of them has a position.
struct wrong_places {
  const first_wrong* first = nullptr;
  unsigned long long count = 0;
};

}}}  // namespace pinion::v0::cuda
