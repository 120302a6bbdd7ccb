// Numbers that tell the shape of a result: integers of the run, and as much of them as a graph tells before it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/graph/attribute.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// Stands for a number that only the run tells.
inline constexpr std::int64_t untold = std::numeric_limits<std::int64_t>::min();

bool are_told(const integers& numbers);

// Fails unless input i is a vector of int32 or int64, as far as its shape is known; `what` names it in the sentence.
void expect_numbers(const shape_context& c, int i, std::string_view what);

// The numbers at an input as far as the graph tells them: those of constants, the extents of shape_of, and what slices
// and joins of these hold; `untold` for the others. Nothing where not even their count is known.
std::optional<integers> told_numbers(const shape_context& c, int i);

// The elements of a tensor of int32 or int64.
integers numbers_in(const any_tensor& t);
// The elements of a vector, each of them told. Throws invalid_argument for another rank; `what` names the vector in the
// sentence.
integers vector_of_numbers(const any_tensor& t, std::string_view what);

// The shape of these extents, unknown where a number is untold or -1. Throws invalid_argument for a number below -1.
shape shape_of_numbers(const integers& numbers);

// Throws invalid_argument where a result is not of the shape that the graph told: a constant that tells it was fed.
void expect_as_told(const shape& y, const shape& told);

}}}}  // namespace pinion::v0::op::detail

#if PINION_HEADER_ONLY
#include <pinion/op/dynamic/numbers.ipp>
#endif
