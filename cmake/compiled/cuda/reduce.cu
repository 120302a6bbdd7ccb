// The part of pinion::cuda that holds the kernels of reductions but for the folds.
#include <pinion/op/reduce/cuda_walks.cuh>
