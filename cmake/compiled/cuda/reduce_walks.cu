// The part of pinion::cuda that holds the other kernels of reductions.
#include <pinion/op/reduce/cuda_walks.cuh>
