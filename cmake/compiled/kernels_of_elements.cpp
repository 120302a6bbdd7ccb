// The part of pinion::compiled that holds the kernels of ops that compute, make or move elements.
#include <pinion/op/kernels_of_elements.ipp>
