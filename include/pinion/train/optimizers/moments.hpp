// The writes of which optimizers put a step together that is no rule of one pass.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/graph/operation.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/train/scalar_value.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

// Moves an average towards a value, by a part of the way; the rate is a number or an expression of the average's dtype.
// Rows that a sparse value does not name stay.
operation average_into(graph& g, node_id average, const gradient_value& value, const scalar_value& part);
// Moves an average towards the square of a value.
operation average_square_into(graph& g, node_id average, const gradient_value& value, const scalar_value& part);
// w -= rate step.
operation descend(graph& g, node_id variable, output step, const scalar_value& rate);
// sum -= rate value; of a sparse value only the rows that it names change.
operation subtract_from(graph& g, node_id sum, const gradient_value& value, const scalar_value& rate);

}}}}  // namespace pinion::v0::train::detail

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/moments.ipp>
#endif
