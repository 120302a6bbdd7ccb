// The part of pinion::cuda that holds the kernels of sources.
#include <pinion/op/source/cuda_kernels.cuh>
