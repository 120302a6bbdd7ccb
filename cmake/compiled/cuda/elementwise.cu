// The part of pinion::cuda that holds the interpreter of scalar programs.
#include <pinion/op/elementwise/cuda_interpreter.cuh>
