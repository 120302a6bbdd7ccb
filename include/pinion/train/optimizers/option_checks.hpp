// Checks of the numbers that optimizers are given.
#pragma once

#include <string_view>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

// These throw invalid_argument, in a sentence that names the number, the optimizer and the value.

// Unless the number is in [0, 1): the part of an average that remains from one step to the next.
void expect_part(std::string_view number, std::string_view optimizer, double value);
// Unless the number is finite and not below 0.
void expect_amount(std::string_view number, std::string_view optimizer, double value);
// Unless the number is finite and above 0.
void expect_above_zero(std::string_view number, std::string_view optimizer, double value);

}}}}  // namespace pinion::v0::train::detail

#if PINION_HEADER_ONLY
#include <pinion/train/optimizers/option_checks.ipp>
#endif
