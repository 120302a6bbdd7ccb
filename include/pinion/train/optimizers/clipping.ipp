// Bodies of <pinion/train/optimizers/clipping.hpp>.
#pragma once

#include <pinion/base/number_text.hpp>
#include <pinion/train/optimizers/clipping.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL void expect_positive(const char* function, double norm) {
  if (!(norm > 0))
    throw error(errc::invalid_argument,
                std::string(function) + " to " + number_text(norm) + "; a norm to clip to must be positive");
}

}}}}  // namespace pinion::v0::train::detail

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL std::vector<gradient_of_variable> clip_by_value(const std::vector<gradient_of_variable>& gradients,
                                                            double low, double high, source_location where) {
  const called_from line(where);
  return change_gradients(gradients, [=]<class T>(const expr<T>& g) {
    return clip_by_value(g, static_cast<T>(low), static_cast<T>(high));
  });
}

PINION_DECL std::vector<gradient_of_variable> clip_by_norm(const std::vector<gradient_of_variable>& gradients,
                                                           double clip_norm, source_location where) {
  const called_from line(where);
  return change_gradients(gradients, [=](const auto& g) { return clip_by_norm(g, clip_norm); });
}

PINION_DECL expr<double> global_norm(const std::vector<gradient_of_variable>& gradients, source_location where) {
  const called_from line(where);
  expr<double> sum;
  change_gradients(gradients, [&]<class T>(const expr<T>& g) {
    const expr<double> squares = cast<double>(reduce_sum(square(g)));
    sum = sum.empty() ? squares : expr<double>(sum + squares);
    return g;
  });
  if (sum.empty()) throw error(errc::invalid_argument, "global_norm was given no gradients");
  return sqrt(sum);
}

PINION_DECL clipped_gradients clip_by_global_norm(const std::vector<gradient_of_variable>& gradients, double clip_norm,
                                                  source_location where) {
  const called_from line(where);
  detail::expect_positive("clip_by_global_norm", clip_norm);
  const expr<double> norm = global_norm(gradients);
  const expr<double> scale = detail::global_scale(norm, clip_norm);
  expr<float> narrow;  // the scale for gradients of float, made on first use
  return {change_gradients(gradients,
                           [&]<class T>(const expr<T>& g) -> expr<T> {
                             if constexpr (std::is_same_v<T, double>) {
                               return g * scale;
                             } else {
                               if (narrow.empty()) narrow = cast<float>(scale);
                               return g * narrow;
                             }
                           }),
          norm};
}

}}}  // namespace pinion::v0::train
