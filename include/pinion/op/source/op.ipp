// Bodies of <pinion/op/source/op.hpp>.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include <pinion/op/source/op.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void constant::infer(shape_context& c) {
  const auto& value = c.attrs().get<any_tensor>("value");
  c.output(value.dtype(), value.shape());
}

PINION_DECL void fill::infer(shape_context& c) {
  const auto& value = c.attrs().get<any_tensor>("value");
  const auto& extent = c.attrs().get<shape>("shape");
  if (!dtypes::moved.has(value.dtype()) || value.shape().rank() != 0)
    c.fail("a Fill is of one number, not of " + std::string(to_string(value.dtype())) + " " + to_string(value.shape()));
  if (!extent.known()) c.fail("the shape of a Fill is known, and " + to_string(extent) + " is not");
  c.output(value.dtype(), extent);
}

PINION_DECL void placeholder::infer(shape_context& c) {
  c.output(c.attrs().get<dtype>("dtype"), c.attrs().get<shape>("shape"));
}

PINION_DECL void identity::infer(shape_context& c) {
  c.output(c.dtype(0), c.shape(0));
}

PINION_DECL void identity::gradient(gradient_context& g) {
  g.pass(0, 0);
}

PINION_DECL void zeros_like::infer(shape_context& c) {
  c.output(c.dtype(0), c.shape(0));
}

PINION_DECL void ones_like::infer(shape_context& c) {
  c.output(c.dtype(0), c.shape(0));
}

PINION_DECL std::int64_t range::count(const attributes& of) {
  if (is_integer(of.get<dtype>("dtype"))) {
    const auto start = of.get<std::int64_t>("start"), limit = of.get<std::int64_t>("limit"),
               delta = of.get<std::int64_t>("delta");
    if (delta == 0 || (delta > 0) != (limit > start)) return 0;
    const auto distance =
        delta > 0 ? std::uint64_t(limit) - std::uint64_t(start) : std::uint64_t(start) - std::uint64_t(limit);
    const auto step = delta > 0 ? std::uint64_t(delta) : 0 - std::uint64_t(delta);
    return static_cast<std::int64_t>(std::min(distance / step + (distance % step != 0), std::uint64_t(most)));
  }
  const double n = std::ceil((of.get<double>("limit") - of.get<double>("start")) / of.get<double>("delta"));
  return n > 0 ? static_cast<std::int64_t>(std::min(n, static_cast<double>(most))) : 0;
}

PINION_DECL void range::infer(shape_context& c) {
  const auto type = c.attrs().get<dtype>("dtype");
  c.expect_dtype(type, types);
  for (const char* const number : {"start", "limit", "delta"})
    if ((c.attrs().find(number)->get_if<double>() != nullptr) == is_integer(type))
      c.fail("attribute '" + std::string(number) + "' of a Range of " + std::string(to_string(type)) + " is " +
             (is_integer(type) ? "an integer" : "a double"));
  c.output(type, {checked_count(c.attrs())});
}

PINION_DECL std::int64_t range::checked_count(const attributes& of) {
  const auto refuse = [](const std::string& sentence) { throw error(errc::invalid_argument, sentence); };
  const bool whole = is_integer(of.get<dtype>("dtype"));
  for (const char* const number : {"start", "limit", "delta"})
    if (!whole && std::isnan(of.get<double>(number)))
      refuse("a range of NaN has no elements: '" + std::string(number) + "' is NaN");
  if (whole ? of.get<std::int64_t>("delta") == 0 : of.get<double>("delta") == 0)
    refuse("a range in steps of 0 never ends");
  const std::int64_t n = count(of);
  if (n == most) refuse("a range of 2^56 numbers or more, which no memory holds");
  return n;
}

PINION_DECL void shape_of::infer(shape_context& c) {
  c.output(dtype::int32, {c.shape(0).has_rank() ? std::int64_t{c.shape(0).rank()} : unknown});
}

}}}  // namespace pinion::v0::op
