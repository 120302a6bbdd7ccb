// What a row of the laws' table is made of: everything that the laws know of an op beside the op itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/op/catalogue.hpp>

namespace laws {

using namespace pinion;

// What stands at an input: numbers in [low, high], bools, indices in [0, high), a variable that holds numbers, numbers
// of which each row adds up to 1, texts, or the handle of a resource.
enum class role { number, mask, index32, index64, state, distribution, words, handle };
struct input {
  shape extent;
  role is = role::number;
  double low = -2, high = 2;
};

struct sample {
  std::string note;
  std::vector<input> inputs;
  std::function<attributes(dtype)> attrs = [](dtype) { return attributes{}; };  // by the dtype that selects the kernel
  std::optional<dtype> numbers = {};  // of number inputs, where it is not that one
  bool smooth = true;                 // may its gradient be compared with differences?
  // The node whose handle stands at handle inputs.
  std::string_view resource = {};
  std::function<attributes(dtype)> resource_attrs = [](dtype) { return attributes{}; };
};

// A node to be run: an op, the values of its inputs, which of them variables hold, and its attributes.
struct call {
  std::string op;
  std::vector<any_tensor> inputs;
  std::vector<bool> is_state;
  attributes attrs;
  std::string resource = {};  // the op of the node whose handle is the first input; "" where it is a value
  attributes resource_attrs = {};
};

// Inputs that an op refuses, and what it then says.
struct misfit {
  std::string_view op;
  std::vector<any_tensor> inputs;
  attributes attrs;
  std::string says;
  std::string resource = {};  // as in a call
  attributes resource_attrs = {};
};

// A number, and how far from it a computed one may be.
struct ranged {
  double value = 0, slack = 0;
};

// The spacing of a dtype's numbers around x; 0 for integers.
inline double spacing(dtype type, double x) {
  if (!is_floating(type) || std::isnan(x)) return 0;
  const int digits = type == dtype::float32 ? 24 : 53, lowest = type == dtype::float32 ? -125 : -1021;
  const double most = type == dtype::float32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  int exponent = 0;
  std::frexp(std::min(std::abs(x), most), &exponent);
  return std::ldexp(1.0, std::max(exponent, lowest) - digits);
}
inline double largest(dtype type) {
  return type == dtype::float32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}

struct expectation {
  std::vector<std::vector<ranged>> outputs;  // as run() yields them
};

// The index into a tensor of shape `part` that stands at element e of `whole`, by broadcasting.
inline std::size_t broadcast_index(const shape& whole, const shape& part, std::int64_t e) {
  std::int64_t at = 0, stride = 1;
  for (int axis = whole.rank() - 1, k = part.rank() - 1; axis >= 0; --axis, --k) {
    const std::int64_t i = e % whole[axis];
    e /= whole[axis];
    if (k < 0) continue;
    at += part[k] == 1 ? 0 : i * stride;
    stride *= part[k];
  }
  return static_cast<std::size_t>(at);
}

// The element of the reduced tensor that element e of x belongs to.
inline std::size_t reduced_index(const shape& x, const attributes& attrs, std::int64_t e) {
  std::vector<bool> gone(static_cast<std::size_t>(x.rank()), !attrs.has("axes"));
  if (attrs.has("axes"))
    for (std::int64_t axis : attrs.get<integers>("axes"))
      gone[static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis)] = true;
  std::int64_t at = 0, stride = 1;
  for (int axis = x.rank() - 1; axis >= 0; --axis) {
    const std::int64_t i = e % x[axis];
    e /= x[axis];
    if (gone[static_cast<std::size_t>(axis)]) continue;
    at += i * stride;
    stride *= x[axis];
  }
  return static_cast<std::size_t>(at);
}
inline std::int64_t reduced_count(const shape& x, const attributes& attrs) {
  std::int64_t n = 1;
  for (int axis = 0; axis < x.rank(); ++axis) {
    bool gone = !attrs.has("axes");
    if (!gone)
      for (std::int64_t a : attrs.get<integers>("axes")) gone |= (a < 0 ? a + x.rank() : a) == axis;
    if (!gone) n *= x[axis];
  }
  return n;
}

using tensors = std::vector<std::vector<double>>;

// What the laws know of some ops: nodes of them, of matrices m x n, small to be looked at or large to be split over
// threads; what they compute, plainly, or nothing where there is no plain form; what they refuse.
struct row {
  std::vector<std::string_view> ops;
  std::function<std::vector<sample>(std::string_view op, std::int64_t m, std::int64_t n)> samples;
  std::function<std::optional<expectation>(const call& c, const tensors& x)> reference = nullptr;
  std::vector<misfit> misfits = {};
  bool takes_anything = false;  // then it refuses nothing
};

// ---- what rows are written with

inline std::vector<ranged> exactly(const std::vector<double>& values) {
  std::vector<ranged> all;
  for (double v : values) all.push_back({v, 0});
  return all;
}

// `times` roundings of terms whose magnitudes add up to `size`.
inline ranged rounded(dtype type, double value, double size, double times) {
  return {value, times * spacing(type, size)};
}

// Whether all numbers are so small that nothing overflows on the way.
inline bool are_tame(const tensors& x) {
  for (const auto& all : x)
    for (const double v : all)
      if (!(std::abs(v) < 1e4)) return false;
  return true;
}
// Numbers that may be off by that many spacings of 1, or by anything where they are not known.
inline std::vector<ranged> near(const std::vector<double>& values, dtype type, double size, bool known) {
  std::vector<ranged> all;
  for (const double v : values)
    all.push_back({v, known ? size * spacing(type, 1) : std::numeric_limits<double>::infinity()});
  return all;
}

inline std::function<attributes(dtype)> plain(attributes a) {
  return [a](dtype) { return a; };
}
inline std::function<attributes(dtype)> typed(shape s) {
  return [s](dtype d) { return attributes{{"dtype", d}, {"shape", s}}; };
}
inline attributes axes(integers which, bool keep = false) {
  return {{"axes", std::move(which)}, {"keep_dims", keep}};
}

// ---- values

// The dtype of an input, by the dtype that selects the kernel.
inline dtype type_of(const sample& s, const input& i, dtype key) {
  switch (i.is) {
    case role::mask: return dtype::boolean;
    case role::index32: return dtype::int32;
    case role::index64: return dtype::int64;
    case role::words: return dtype::string;
    default: return s.numbers.value_or(key);
  }
}

// Random elements; the same for the same seed.
inline any_tensor random_value(const sample& s, const input& i, dtype key, unsigned seed) {
  any_tensor t(type_of(s, i, key), i.extent);
  std::mt19937 bits(seed);
  const bool index = i.is == role::index32 || i.is == role::index64;
  if (t.dtype() == dtype::string) return t;
  visit_plain<dtypes::moved>(t.dtype(), [&]<class T>() {
    for (std::int64_t e = 0; e < t.count(); ++e) {
      const double low = std::is_unsigned_v<T> ? std::max(i.low, 0.0) : i.low;
      if constexpr (std::is_same_v<T, bool>)
        t.data<T>()[e] = i.low >= 0.5 || bits() % 2;
      else if constexpr (!std::is_integral_v<T>)
        t.data<T>()[e] = static_cast<T>(std::uniform_real_distribution<double>(i.low, i.high)(bits));
      else
        t.data<T>()[e] = static_cast<T>(std::uniform_int_distribution<std::int64_t>(
            static_cast<std::int64_t>(std::ceil(low)), static_cast<std::int64_t>(i.high) - index)(bits));
    }
    if (i.is != role::distribution) return;
    const std::int64_t n = i.extent[i.extent.rank() - 1];
    for (std::int64_t row = 0; row + n <= t.count() && n > 0; row += n) {
      double sum = 0;
      for (std::int64_t e = row; e < row + n; ++e) sum += static_cast<double>(t.data<T>()[e]);
      for (std::int64_t e = row; e < row + n; ++e)
        t.data<T>()[e] = static_cast<T>(static_cast<double>(t.data<T>()[e]) / sum);
    }
  });
  return t;
}
inline std::vector<any_tensor> random_values(const sample& s, dtype key, unsigned seed = 1) {
  std::vector<any_tensor> all;
  for (const input& i : s.inputs) all.push_back(random_value(s, i, key, seed++));
  return all;
}

// The elements as numbers; strings are zeros.
inline std::vector<double> numbers(const any_tensor& t) {
  if (t.dtype() == dtype::string) return std::vector<double>(static_cast<std::size_t>(t.count()));
  std::vector<double> all;
  visit_plain<dtypes::moved>(t.dtype(), [&]<class T>() {
    for (std::int64_t e = 0; e < t.count(); ++e) all.push_back(static_cast<double>(t.data<T>()[e]));
  });
  return all;
}

// ---- tensors to be refused

inline any_tensor of(dtype d, const shape& s) {
  return random_value({}, {s, d == dtype::int32 ? role::index32 : role::number, 0, 1}, d, 1);
}
inline any_tensor f(const shape& s) {
  return of(dtype::float32, s);
}
inline any_tensor d(const shape& s) {
  return of(dtype::float64, s);
}
inline any_tensor i(const shape& s) {
  return of(dtype::int32, s);
}
inline any_tensor b(const shape& s) {
  return of(dtype::boolean, s);
}
inline any_tensor text(const shape& s) {
  return any_tensor(dtype::string, s);
}

}  // namespace laws
