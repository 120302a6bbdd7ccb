// Bodies of <pinion/train/losses.hpp>.
#pragma once

#include <pinion/train/losses.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL void expect_same_shape(const char* loss, const any_expr& labels, const any_expr& predictions) {
  if (!fits(labels.shape(), predictions.shape()))
    throw error(errc::invalid_argument, std::string(loss) + ": the labels '" + labels.name() + "' have shape " +
                                            to_string(labels.shape()) + ", the predictions '" + predictions.name() +
                                            "' " + to_string(predictions.shape()));
}

}}}}  // namespace pinion::v0::train::detail
