// Bodies of <pinion/runtime/check/node_values.hpp>.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <pinion/op/catalogue.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/variable/op.hpp>
#include <pinion/runtime/check/bad_operation.hpp>
#include <pinion/runtime/check/node_values.hpp>

namespace pinion { inline namespace v0 { namespace runtime { namespace detail {

// Looks at blocks, so that the loop is compiled to vectors and ends early.
template <class Bits>
bool no_exponent_is_full(const std::byte* from, std::int64_t count, Bits exponent) {
  constexpr std::int64_t block = 4096;
  for (std::int64_t begin = 0; begin < count; begin += block) {
    unsigned full = 0;
    for (std::int64_t i = begin; i < std::min(count, begin + block); ++i) {
      Bits bits;
      std::memcpy(&bits, from + i * static_cast<std::int64_t>(sizeof bits), sizeof bits);
      full |= static_cast<unsigned>((bits & exponent) == exponent);
    }
    if (full) return false;
  }
  return true;
}

// The elements of a value: how many are no numbers, and where the others lie.
struct elements {
  std::int64_t nans = 0, infinities = 0;
  std::int64_t first_nan = -1, first_infinity = -1;
  double least = 0, greatest = 0;
  double infinity = 0;     // the first one
  bool has_range = false;  // is an element finite?

  void add(std::int64_t at, double x) {
    if (x != x) return nans++, first_nan = first_nan < 0 ? at : first_nan, void();
    if (std::isinf(x)) {
      if (infinities++ == 0) first_infinity = at, infinity = x;
      return;
    }
    least = has_range ? std::min(least, x) : x;
    greatest = has_range ? std::max(greatest, x) : x;
    has_range = true;
  }
};
inline elements elements_of(const any_tensor& value) {
  elements all;
  if (!dtypes::moved.has(value.dtype())) return all;
  visit_plain<dtypes::moved>(value.dtype(), [&]<class T>() {
    const T* const from = value.data<T>();
    for (std::int64_t i = 0; i < value.count(); ++i) all.add(i, static_cast<double>(from[i]));
  });
  return all;
}
inline bool holds_nan(const any_tensor& value) {
  return !all_finite(value) && elements_of(value).nans > 0;
}

// "[2, 0]" of the element with this number.
inline std::string place_text(std::int64_t at, const shape& in) {
  std::string text;
  for (int axis = in.rank() - 1; axis >= 0; --axis) {
    text = std::to_string(at % in[axis]) + (text.empty() ? "" : ", ") + text;
    at /= in[axis];
  }
  return "[" + text + "]";
}

// "float [3, 4]" of a value.
inline std::string type_text(const any_tensor& value) {
  return std::string(to_string(value.dtype())) + " " + to_string(value.shape());
}

// "from 0 to 1, 2 NaN", or "3" of elements that are all equal.
inline std::string range_text(const any_tensor& value) {
  if (value.count() == 0) return "empty";
  if (!dtypes::moved.has(value.dtype())) return "";
  const elements e = elements_of(value);
  std::string text = !e.has_range            ? "no finite number"
                     : e.least == e.greatest ? fmt::format("{:.6g}", e.least)
                                             : fmt::format("from {:.6g} to {:.6g}", e.least, e.greatest);
  if (e.nans > 0) text += ", " + std::to_string(e.nans) + " NaN";
  if (e.infinities > 0) text += ", " + std::to_string(e.infinities) + " infinite";
  return text;
}

// "2 of 6 elements of a float [2, 3] are NaN, the first at [0, 1] is nan".
inline std::string bad_elements_text(const any_tensor& value, const elements& e) {
  const bool nan = e.nans > 0;
  const std::string what = nan ? "nan" : e.infinity > 0 ? "inf" : "-inf";
  if (value.count() == 1) return "the one element of a " + type_text(value) + " is " + what;
  const std::int64_t bad = nan ? e.nans : e.infinities, first = nan ? e.first_nan : e.first_infinity;
  std::string text = std::to_string(bad) + " of " + std::to_string(value.count()) + " elements of a " +
                     type_text(value) + (bad == 1 ? " is " : " are ") + (nan ? "NaN" : "infinite") + ", the first at " +
                     place_text(first, value.shape()) + " is " + what;
  if (nan && e.infinities > 0) text += ", and " + std::to_string(e.infinities) + " infinite";
  return text;
}

inline std::string value_name(const node& n, int output) {
  return "'" + (n.outputs.size() > 1 ? output_name(n, output) : n.name) + "'";
}

// One run of a node that has yielded a value that is not finite.
class verdict {
 public:
  verdict(graph_view g, const node& n, const node_values& v) : g_(g), n_(n), v_(v) {}

  // Judges the result with this number; `what` says which that is, in a sentence.
  std::optional<error> on(std::size_t number, const any_tensor& result, const std::string& what) const {
    if (!result || all_finite(result)) return std::nullopt;
    const elements e = elements_of(result);
    if (e.nans > 0) {
      for (std::size_t i = 0; i < v_.inputs.size(); ++i)
        if (v_.inputs[i] && holds_nan(v_.inputs[i])) return brought(i);
      return made(number, result, e, what);
    }
    if (definition_of(n_.op).yields_infinity || !computes() || !finite_inputs()) return std::nullopt;
    return made(number, result, e, what);
  }

 private:
  // Was it given all that it computes of? What lies in a queue, or another state, it was not.
  bool computes() const {
    for (const output& in : n_.inputs)
      if (g_.type_of(in).resource) return false;
    return std::any_of(v_.inputs.begin(), v_.inputs.end(),
                       [](const any_tensor& in) { return in && in.dtype() != dtype::string; });
  }
  bool finite_inputs() const {
    return std::all_of(v_.inputs.begin(), v_.inputs.end(), [](const any_tensor& in) { return !in || all_finite(in); });
  }
  bool came_before(std::size_t input) const {
    const auto at = n_.inputs.begin() + static_cast<std::ptrdiff_t>(input);
    return std::find(n_.inputs.begin(), at, *at) != at;
  }
  // The node that yields an input.
  const node& source(std::size_t input) const { return g_[n_.inputs[input].node]; }

  error brought(std::size_t input) const {
    const node& from = source(input);
    const any_tensor& value = v_.inputs[input];
    const bool state = from.op == op::variable::name;
    return error(errc::invalid_argument,
                 (state ? "variable '" + from.name + "' held NaN before '" + n_.name + "' (" + n_.op + ") read it: "
                        : value_name(from, n_.inputs[input].index) + " (" + from.op + ") brought NaN: ") +
                     bad_elements_text(value, elements_of(value)))
        .at_node(from.name, from.op, to_string(from.where));
  }

  error made(std::size_t number, const any_tensor& result, const elements& e, const std::string& what) const {
    const std::string given = inputs_text();
    std::string text = "'" + n_.name + "' (" + n_.op + ")" + (given.empty() ? " yields " : " makes ") +
                       (e.nans > 0 ? "NaN" : "infinity");
    if (!given.empty()) text += finite_inputs() ? " of finite values" : " of infinite values";
    text += what + ": " + bad_elements_text(result, e);
    const auto* const program = n_.attrs.find("program");
    if (program && !given.empty()) {
      const std::int64_t first = e.nans > 0 ? e.first_nan : e.first_infinity;
      const std::string operation = bad_operation(op::program_of(n_.attrs), v_.inputs, {number, result.shape(), first});
      if (!operation.empty()) text += ", where " + operation;
    }
    if (!given.empty()) text += "; it was given " + given;
    return error(errc::invalid_argument, text).at_node(n_.name, n_.op, to_string(n_.where));
  }

  // "'x', a float [3] (from 0 to 1); 'y', ..." of the inputs whose elements it reads.
  std::string inputs_text() const {
    constexpr std::size_t most_named = 8;
    std::vector<std::string> all;
    for (std::size_t i = 0; i < v_.inputs.size(); ++i)
      if (const any_tensor& in = v_.inputs[i]; in && !came_before(i)) {
        const std::string range = range_text(in);
        all.push_back(value_name(source(i), n_.inputs[i].index) + ", a " + type_text(in) +
                      (range.empty() ? "" : " (" + range + ")"));
      }
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), most_named); ++i) text += (i ? "; " : "") + all[i];
    if (all.size() > most_named) text += "; and " + std::to_string(all.size() - most_named) + " more";
    return text;
  }

  const graph_view g_;
  const node& n_;
  const node_values& v_;
};

}}}}  // namespace pinion::v0::runtime::detail

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL bool all_finite(const any_tensor& value) {
  const std::int64_t n = value.count();
  switch (value.dtype()) {
    case dtype::float32: return detail::no_exponent_is_full(value.byte_data(), n, std::uint32_t{0x7f800000});
    case dtype::float64: return detail::no_exponent_is_full(value.byte_data(), n, std::uint64_t{0x7ff} << 52);
    case dtype::half: return detail::no_exponent_is_full(value.byte_data(), n, std::uint16_t{0x7c00});
    case dtype::bfloat16: return detail::no_exponent_is_full(value.byte_data(), n, std::uint16_t{0x7f80});
    default: return true;
  }
}

PINION_DECL bool has_bad_result(const node_values& v) {
  const auto bad = [](const any_tensor& t) { return t && !all_finite(t); };
  return std::any_of(v.outputs.begin(), v.outputs.end(), bad) || std::any_of(v.written.begin(), v.written.end(), bad);
}

PINION_DECL std::optional<error> bad_value(graph_view g, const node& n, const node_values& v) {
  const detail::verdict judged(g, n, v);
  for (std::size_t i = 0; i < v.outputs.size(); ++i) {
    const std::string which = v.outputs.size() > 1 ? ", in its output " + std::to_string(i) : "";
    if (auto e = judged.on(i, v.outputs[i], which)) return e;
  }
  for (std::size_t i = 0; i < v.written.size(); ++i)
    if (auto e = judged.on(i, v.written[i], ", in variable '" + g[n.inputs[i].node].name + "'")) return e;
  return std::nullopt;
}

PINION_DECL std::optional<error> bad_feed(const node& n, const any_tensor& value) {
  if (!value || !detail::holds_nan(value)) return std::nullopt;
  return error(errc::invalid_argument, "the value fed to '" + n.name + "' holds NaN: " +
                                           detail::bad_elements_text(value, detail::elements_of(value)))
      .at_node(n.name, n.op, to_string(n.where));
}

}}}  // namespace pinion::v0::runtime
