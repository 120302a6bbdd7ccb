// The part of pinion::cuda that sorts indices.
#include <pinion/device/cuda/sorting.cuh>
