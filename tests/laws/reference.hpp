// What a call yields by its row, and how a computed number is held to it.
#pragma once

#include "laws/machine.hpp"

namespace laws {

// What run(c) yields; nothing where there is no plain form (random numbers).
inline std::optional<expectation> reference(const call& c) {
  const row* r = row_of(c.op);
  if (!r || !r->reference) return std::nullopt;
  tensors x;
  for (const any_tensor& t : c.inputs) x.push_back(numbers(t));
  return r->reference(c, x);
}

// ---- comparison

// Is a computed number one that the expectation admits? Integers are compared as their dtype holds them.
inline bool admits(const ranged& want, double got, dtype type) {
  if (type == dtype::boolean) return want.slack > 0 || (want.value != 0) == (got != 0);
  if (!is_floating(type)) {
    if (!std::isfinite(want.value)) return true;  // unspecified
    return visit_plain<dtypes::moved>(type, [&]<class T>() {
      return std::abs(want.value - got) <= want.slack ||
             static_cast<T>(static_cast<std::int64_t>(want.value)) == static_cast<T>(got);
    });
  }
  if (std::isinf(want.slack) || std::isnan(want.slack)) return true;
  if (std::isnan(want.value) || std::isnan(got)) return std::isnan(want.value) && std::isnan(got);
  if (got == want.value) return true;
  const double most = largest(type), edge = most - 2 * spacing(type, most);
  if (std::isinf(got))
    return std::signbit(got) == std::signbit(want.value) && std::abs(want.value) + want.slack >= edge;
  if (std::isinf(want.value)) return false;
  if (std::abs(want.value) > most) return std::abs(got) >= edge - want.slack;
  return std::abs(got - want.value) <= want.slack + spacing(type, want.value) / 2;
}

}  // namespace laws
