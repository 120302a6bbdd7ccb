// The part of pinion::compiled that holds what <pinion/op/kernels.hpp> leaves out.
#define PINION_DEFINE_KERNELS 1
#include <pinion/op/kernels.hpp>
