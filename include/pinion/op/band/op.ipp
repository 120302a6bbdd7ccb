// Bodies of <pinion/op/band/op.hpp>.
#pragma once

#include <string>

#include <pinion/op/band/op.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void detail::expect_matrices(const shape& x) {
  if (x.has_rank() && x.rank() < 2)
    throw error(errc::invalid_argument,
                "a band is one of matrices, tensors of two axes or more, not of a tensor of shape " + to_string(x));
}

PINION_DECL void band_part::infer(shape_context& c) {
  detail::expect_matrices(c.shape(0));
  c.output(c.dtype(0), c.shape(0));
}

PINION_DECL void band_part::gradient(gradient_context& g) {
  g.set(0, g.make(name, {g.output_gradient(0)}, g.attrs()));
}

}}}  // namespace pinion::v0::op
