// The part of pinion::cuda that holds the kernels of convolution and pooling.
#include <pinion/op/conv/cuda_kernels.cuh>
