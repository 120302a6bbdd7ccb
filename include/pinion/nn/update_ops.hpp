// Operations that a training step runs beside the updates of its variables, such as those of batch_norm's averages.
#pragma once

#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/graph/operation.hpp>

namespace pinion { inline namespace v0 { namespace nn {

// An operation that runs the operations that the default graph's collection "update_ops" holds so far. Call it after
// the last layer; updates that are added later are not among them. minimize() runs those of its loss by itself; a step
// that applies gradients otherwise depends on this. TensorFlow: tf.GraphKeys.UPDATE_OPS.
operation update_ops(std::string_view name = "update_ops", source_location where = source_location::current());

// Adds an operation to "update_ops" that follows `cause`: a step that computes the cause in training runs the update.
void add_update(const operation& update, const operation& cause);

// An operation that runs the updates whose causes the given output depends on; empty where there are none. Requires:
// the output is one of `g`.
operation updates_of(graph& g, output of, source_location where);

}}}  // namespace pinion::v0::nn

#if PINION_HEADER_ONLY
#include <pinion/nn/update_ops.ipp>
#endif
