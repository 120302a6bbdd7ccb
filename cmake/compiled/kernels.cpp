// The part of pinion::compiled that holds the table of kernels, and those of products, state and bodies.
#include <pinion/op/kernels.ipp>
