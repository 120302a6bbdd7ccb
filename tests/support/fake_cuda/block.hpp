// The block of a CUDA kernel that an OS thread runs at present, as the kernel sees it.
#pragma once

namespace fake_cuda {

struct place {
  unsigned x, y, z;
};

// The block whose threads share an OS thread. Kernels reach the stand-in through this struct alone, so that
// those of a shared object need no symbol of the program that opens it.
struct block {
  static constexpr unsigned ballot =
      32;  // a source that is no lane: bit k of the result says whether lane k has a value

  // Returns when every thread of the block has called it. `line` says which barrier this is.
  void (*synchronize)(block&, int line);
  // Gives a value, and returns that of the lane `source` when all threads of the warp in `mask` have given theirs.
  unsigned long long (*exchange)(block&, unsigned mask, unsigned long long value, unsigned source);
};

// The variables of one unit of kernels, for one OS thread, which are set before a thread of a block goes on.
struct variables {
  place *thread, *block_at, *threads, *blocks;
  block** running;
};

}  // namespace fake_cuda
