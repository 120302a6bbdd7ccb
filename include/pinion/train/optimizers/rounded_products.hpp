// Products that round their operands, after the nodes were made.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

// Sets the attribute "compute" (op/matmul/compute_dtype.hpp) of all products of float on which an output depends, those
// in the bodies of loops and conditionals too. A product that has it already gets the new one.
void round_products(graph& g, output end, dtype compute);

}}}}  // namespace pinion::v0::train::detail

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/rounded_products.ipp>
#endif
