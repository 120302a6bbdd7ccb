// The part of pinion::cuda that holds the folds of reductions and of gradients.
#include <pinion/device/cuda/fold.cuh>
