// The part of pinion::cuda that holds the work of variables.
#include <pinion/op/variable/cuda_kernels.cuh>
