// The part of pinion::cuda that holds the folds of reductions.
#include <pinion/op/reduce/cuda_kernels.cuh>
