// The part of pinion::cuda that holds the kernels of boxes.
#include <pinion/op/slice/cuda_kernels.cuh>
