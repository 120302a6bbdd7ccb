// Bodies of <pinion/op/dynamic/numbers.hpp>.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <pinion/op/dynamic/numbers.hpp>
#include <pinion/op/layout/op.hpp>
#include <pinion/op/slice/op.hpp>
#include <pinion/op/source/op.hpp>
#include <pinion/op/strided/op.hpp>
#include <pinion/op/strided/spec.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

namespace dynamic {

inline constexpr std::int64_t most_numbers = 1 << 16;  // of a vector that is looked at

inline integers extents_of(const shape& s) {
  integers all(s.dims().begin(), s.dims().end());
  std::replace_if(
      all.begin(), all.end(), [](std::int64_t n) { return n < 0; }, untold);
  return all;
}

// The numbers that a slice takes of a vector.
inline std::optional<integers> told_part(const node& n, const integers& whole) {
  const shape of{std::ssize(whole)};
  std::int64_t begin = 0, step = 1, size = 0;
  if (n.op == slice::name) {
    const auto& first = n.attrs.get<integers>("begin");
    if (first.size() != 1) return std::nullopt;
    begin = first[0], size = box_of(of, first, n.attrs.get<integers>("size"))[0];
  } else {
    const std::vector<axis_range> ranges = strided_spec(n.attrs).ranges(of);
    if (ranges.size() != 1 || ranges[0].axis != 0) return std::nullopt;
    begin = ranges[0].begin, step = ranges[0].step, size = ranges[0].size;
  }
  integers part;
  for (std::int64_t i = 0; i < size; ++i) part.push_back(whole[static_cast<std::size_t>(begin + i * step)]);
  return part;
}

// Looks through the nodes that make numbers: through a limited number of them, since a node may be there often.
class teller {
 public:
  explicit teller(const graph& g) : graph_(g) {}

  // The numbers of an output; nothing where it is no short vector or scalar of integers of a known extent.
  std::optional<integers> told(output o) {
    const output_type& type = graph_.type_of(o);
    const bool is_number = dtypes::signed_integers.has(type.dtype) && type.shape.known() && type.shape.rank() <= 1;
    if (!is_number || type.reference || type.resource || type.shape.count() > most_numbers) return std::nullopt;
    const auto count = static_cast<std::size_t>(type.shape.count());
    const auto found = left_-- > 0 ? told_by(graph_.peek(o.node), count) : std::nullopt;
    return found && found->size() == count ? *found : integers(count, untold);
  }

 private:
  // The numbers that a node tells; nothing where it is none of the ops that are looked through.
  std::optional<integers> told_by(const node& n, std::size_t count) {
    if (n.op == constant::name) return numbers_in(n.attrs.get<any_tensor>("value"));
    if (n.op == ones_like::name) return integers(count, 1);
    if (n.op == shape_of::name && graph_.type_of(n.inputs[0]).shape.has_rank())
      return extents_of(graph_.type_of(n.inputs[0]).shape);
    if (n.op == concat::name) return told_join(n);
    if (n.op == expand_dims::name || n.op == identity::name) return told(n.inputs[0]);
    if (n.op != slice::name && n.op != strided_slice::name) return std::nullopt;
    const auto whole = told(n.inputs[0]);
    return whole ? told_part(n, *whole) : std::nullopt;
  }
  std::optional<integers> told_join(const node& n) {
    integers all;
    for (const output& in : n.inputs) {
      const auto part = told(in);
      if (!part) return std::nullopt;
      all.insert(all.end(), part->begin(), part->end());
    }
    return all;
  }

  const graph& graph_;
  int left_ = 256;
};

}  // namespace dynamic

PINION_DECL bool are_told(const integers& numbers) {
  return std::find(numbers.begin(), numbers.end(), untold) == numbers.end();
}

PINION_DECL void expect_numbers(const shape_context& c, int i, std::string_view what) {
  if (!dtypes::signed_integers.has(c.dtype(i)))
    c.fail("the " + std::string(what) + " of " + c.op() + " is of " + std::string(to_string(c.dtype(i))) +
           "; it is of int32 or int64, and pn::cast converts");
  c.expect_rank(i, 1, "the " + std::string(what) + " of " + c.op());
}

PINION_DECL std::optional<integers> told_numbers(const shape_context& c, int i) {
  const shape& s = c.shape(i);
  if (!s.has_rank() || s.rank() > 1 || (s.rank() == 1 && (s[0] < 0 || s[0] > dynamic::most_numbers)))
    return std::nullopt;
  if (c.owner() != nullptr) return dynamic::teller(*c.owner()).told(c.input(i));
  return integers(static_cast<std::size_t>(s.count()), untold);
}

PINION_DECL integers numbers_in(const any_tensor& t) {
  if (t.dtype() == dtype::int64) return {t.data<std::int64_t>(), t.data<std::int64_t>() + t.count()};
  return {t.data<std::int32_t>(), t.data<std::int32_t>() + t.count()};
}

PINION_DECL integers vector_of_numbers(const any_tensor& t, std::string_view what) {
  if (t.shape().rank() != 1)
    throw error(errc::invalid_argument,
                "the " + std::string(what) + " has shape " + to_string(t.shape()) + "; it is a vector");
  integers all = numbers_in(t);
  if (!are_told(all))
    throw error(errc::invalid_argument, "the " + std::string(what) + " has the number " + std::to_string(untold) +
                                            ", which is no extent, place or step of any tensor");
  return all;
}

PINION_DECL shape shape_of_numbers(const integers& numbers) {
  shape s;
  for (const std::int64_t n : numbers) {
    if (n < -1 && n != untold)
      throw error(errc::invalid_argument, "a shape with an extent of " + std::to_string(n) +
                                              "; extents are 0 or more, and one may be -1 where it follows from the "
                                              "others");
    s.push_back(n < 0 ? unknown : n);
  }
  return s;
}

PINION_DECL void expect_as_told(const shape& y, const shape& told) {
  if (!fits(y, told))
    throw error(errc::invalid_argument, "it would yield a tensor of shape " + to_string(y) +
                                            " in this run, and the graph was built for " + to_string(told) +
                                            ": a constant or shape that told it was fed; feed a placeholder");
}

}}}}  // namespace pinion::v0::op::detail
