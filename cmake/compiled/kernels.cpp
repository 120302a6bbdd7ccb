// The part of pinion::compiled that holds the kernels of the library.
#include <pinion/op/kernels.ipp>
