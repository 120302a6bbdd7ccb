// Bodies of <pinion/nn/recurrent.hpp>.
#pragma once

#include <string>

#include <pinion/nn/recurrent.hpp>
#include <pinion/op/einsum/op.hpp>
#include <pinion/op/reduce/op.hpp>
#include <pinion/op/source/op.hpp>

namespace pinion { inline namespace v0 { namespace nn {

PINION_DECL void detail::expect_steps(std::string_view layer, const shape& extent, std::int64_t units,
                                      const any_expr& x) {
  if (units >= 1 && extent.rank() == 3 && extent[2] >= 0) return;
  throw error(errc::invalid_argument, std::string(layer) + " of " + std::to_string(units) + " units on '" + x.name() +
                                          "' of shape " + to_string(extent) +
                                          ": it takes [length, batch, in] of a known last extent");
}

// The batch of an unknown number of rows is counted by zeros of its shape.
PINION_DECL any_expr detail::first_state(const any_expr& x, std::int64_t units, source_location where) {
  graph& g = x.owner();
  const shape extent = x.shape();
  const dtype type = x.dtype();
  const any_expr zeros = visit_plain<dtypes::floating>(type, [&]<class T>() {
    return any_expr(fill<T>({extent[1] < 0 ? 1 : extent[1], units}, T(0), {}, where));
  });
  if (extent[1] >= 0) return zeros;
  const output sums = dsl::make_node(g, op::reduce_sum::name, {}, where, {{"axes", integers{0, 2}}}, {x.endpoint(g)});
  const output rows = dsl::make_node(g, op::zeros_like::name, {}, where, {}, {sums});
  return {g, dsl::make_node(g, op::einsum::name, {}, where, {{"equation", std::string("b,iu->bu")}},
                            {rows, zeros.endpoint(g)})};
}

}}}  // namespace pinion::v0::nn
