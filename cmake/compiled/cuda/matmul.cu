// The part of pinion::cuda that holds the kernels of matrix products.
#include <pinion/op/matmul/cuda_kernels.cuh>
