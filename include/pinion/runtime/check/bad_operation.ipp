// Bodies of <pinion/runtime/check/bad_operation.hpp>.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <pinion/runtime/check/bad_operation.hpp>
#include <pinion/scalar/interpreter.hpp>

namespace pinion { inline namespace v0 { namespace runtime { namespace detail {

// The number of the element of a value that meets an element of a shape to which the value broadcasts; nothing where
// it does not.
inline std::optional<std::int64_t> broadcast_element(const shape& value, const bad_element& where) {
  const int beyond = where.in.rank() - value.rank();
  if (beyond < 0) return std::nullopt;
  std::int64_t at = where.at, element = 0, stride = 1;
  for (int axis = value.rank() - 1; axis >= 0; --axis) {
    const std::int64_t extent = value[axis], around = where.in[axis + beyond];
    if (extent != around && extent != 1) return std::nullopt;
    if (extent == around) element += at % around * stride;
    stride *= extent;
    at /= around;
  }
  return element;
}

// A program over one element, whose values are computed when they are asked for.
class element_run {
 public:
  // Holds as many equal elements as a vector has lanes.
  struct alignas(64) equal_elements : std::array<std::byte, scalar::widest * sizeof(double)> {};

  explicit element_run(const scalar::program& p) : p_(p), known_(p.code.size()) {}

  // Takes the elements of the inputs; returns false where one does not broadcast, or is not of the program's dtypes.
  bool take(std::span<const any_tensor> inputs, const bad_element& where) {
    if (!is_floating(p_.arithmetic) || inputs.size() != p_.inputs) return false;
    for (const any_tensor& in : inputs) {
      if (!in || (in.dtype() != p_.arithmetic && in.dtype() != dtype::boolean)) return false;
      const auto element = broadcast_element(in.shape(), where);
      if (!element) return false;
      equal_elements& all = inputs_.emplace_back();
      const auto size = static_cast<std::ptrdiff_t>(size_of(in.dtype()));
      for (std::ptrdiff_t i = 0; i < scalar::widest; ++i)
        std::memcpy(all.data() + i * size, in.byte_data() + *element * size, static_cast<std::size_t>(size));
    }
    return true;
  }

  bool is_operation(scalar::value_id v) const { return scalar::facts(p_.code[v].op).operands > 0; }
  // The values that an operation takes, but for masks.
  std::vector<scalar::value_id> numbers_into(scalar::value_id v) const {
    std::vector<scalar::value_id> all;
    const scalar::instruction& in = p_.code[v];
    for (int i = 0; i < scalar::facts(in.op).operands; ++i)
      if (!is_mask(in.operand(i))) all.push_back(in.operand(i));
    return all;
  }
  // Requires: the value is a number.
  double value(scalar::value_id v) {
    if (!known_[v]) known_[v] = visit_plain<dtypes::floating>(p_.arithmetic, [&]<class T>() { return compute<T>(v); });
    return *known_[v];
  }

 private:
  bool is_mask(scalar::value_id v) const { return scalar::facts(p_.code[v].op).yields_mask; }

  template <class T>
  double compute(scalar::value_id v) const {
    scalar::program part = p_;
    part.results = {{v, p_.arithmetic}};
    std::vector<T> literals;
    for (const scalar::number& n : p_.literals) literals.push_back(n.as<T>());
    equal_elements out{};
    scalar::strip s;
    s.n = scalar::widest;
    s.literals = literals.data();
    for (std::size_t i = 0; i < inputs_.size(); ++i) s.in[i] = inputs_[i].data(), s.advance[i] = 0;
    s.out[0] = out.data();
    s.how[0] = scalar::sink::store;
    scalar::interpreted{part}(s);
    T first{};
    std::memcpy(&first, out.data(), sizeof first);
    return static_cast<double>(first);
  }

  const scalar::program& p_;
  std::vector<equal_elements> inputs_;
  std::vector<std::optional<double>> known_;
};

inline bool finite_element(const any_tensor& in, const bad_element& where) {
  const auto element = broadcast_element(in.shape(), where);
  if (!element || !is_floating(in.dtype())) return true;
  return visit_plain<dtypes::floating>(in.dtype(), [&]<class T>() { return std::isfinite(in.data<T>()[*element]); });
}

}}}}  // namespace pinion::v0::runtime::detail

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL std::string bad_operation(const scalar::program& p, std::span<const any_tensor> inputs,
                                      const bad_element& where) {
  detail::element_run run(p);
  if (where.result >= p.results.size() || !run.take(inputs, where)) return "";
  // Infinities that the inputs bring are passed on, so only NaN is followed behind them.
  const bool all_finite = std::all_of(inputs.begin(), inputs.end(),
                                      [&](const any_tensor& in) { return detail::finite_element(in, where); });
  const auto is_bad = [&](scalar::value_id v) {
    const double x = run.value(v);
    return run.is_operation(v) && (all_finite ? !std::isfinite(x) : x != x);
  };
  scalar::value_id at = p.results[where.result].value;
  if (!run.is_operation(at) || scalar::facts(p.code[at].op).yields_mask || !is_bad(at)) return "";
  for (bool deeper = true; deeper;) {
    const auto into = run.numbers_into(at);
    const auto bad = std::find_if(into.begin(), into.end(), is_bad);
    deeper = bad != into.end();
    if (deeper) at = *bad;
  }
  if (std::count_if(p.code.begin(), p.code.end(), [](const auto& i) { return scalar::facts(i.op).operands > 0; }) < 2)
    return "";
  std::string given;
  for (const scalar::value_id v : run.numbers_into(at))
    given += (given.empty() ? "" : ", ") + fmt::format("{:.6g}", run.value(v));
  const double made = run.value(at);
  return fmt::format("{}({}) is {}", scalar::facts(p.code[at].op).name, given,
                     made != made ? "nan"
                     : made > 0   ? "inf"
                                  : "-inf");
}

}}}  // namespace pinion::v0::runtime
