// The part of pinion::cuda that holds the kernels of rows by index.
#include <pinion/op/gather/cuda_kernels.cuh>
