// The part of pinion::cuda that holds the kernels of random numbers.
#include <pinion/op/random/cuda_kernels.cuh>
