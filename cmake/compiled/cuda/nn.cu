// The part of pinion::cuda that holds the kernels of softmax and the cross entropies.
#include <pinion/op/nn/cuda_kernels.cuh>
