// The part of pinion::cuda that holds the interpreter of scalar programs and the sums of gradients.
#include <pinion/op/elementwise/cuda_interpreter.cuh>
#include <pinion/op/elementwise/cuda_sums.cuh>
