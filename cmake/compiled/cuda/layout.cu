// The part of pinion::cuda that holds the kernels that move elements.
#include <pinion/op/layout/cuda_kernels.cuh>
