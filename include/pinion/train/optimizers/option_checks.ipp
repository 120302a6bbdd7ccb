// Bodies of <pinion/train/optimizers/option_checks.hpp>.
#pragma once

#include <cmath>
#include <string>

#include <pinion/base/error.hpp>
#include <pinion/base/number_text.hpp>
#include <pinion/train/optimizers/option_checks.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

[[noreturn]] inline void refuse_number(std::string_view number, std::string_view optimizer, double value,
                                       std::string_view expected) {
  throw error(errc::invalid_argument, std::string(number) + " of " + std::string(optimizer) + " is " +
                                          number_text(value) + "; it must be " + std::string(expected));
}

PINION_DECL void expect_part(std::string_view number, std::string_view optimizer, double value) {
  if (!(value >= 0 && value < 1)) refuse_number(number, optimizer, value, "in [0, 1)");
}

PINION_DECL void expect_amount(std::string_view number, std::string_view optimizer, double value) {
  if (!(value >= 0) || !std::isfinite(value)) refuse_number(number, optimizer, value, "finite and not negative");
}

PINION_DECL void expect_above_zero(std::string_view number, std::string_view optimizer, double value) {
  if (!(value > 0) || !std::isfinite(value)) refuse_number(number, optimizer, value, "finite and positive");
}

}}}}  // namespace pinion::v0::train::detail
