// The formulas of gradients that are elementwise nodes. A formula has `apply` over an array of symbolic values. At most
// one operand of an operator computes something: see functors.hpp.
#pragma once

#include <array>

#include <pinion/base/type_list.hpp>

namespace pinion { inline namespace v0 { namespace scalar { namespace formula {

// 1 where x is the extreme of its row, else 0.
struct is_extreme {
  template <class V>
  static constexpr V apply(const std::array<V, 2>& in) {
    return select(in[0] == in[1], 1.0, 0.0);
  }
};

// The share of one of the extremes of a row: hit / count * dy.
struct share_of_extreme {
  template <class V>
  static constexpr V apply(const std::array<V, 3>& in) {
    return in[0] / in[1] * in[2];
  }
};

// The gradient of y = softmax(x): (dy - sum) y, where sum is that of dy y along the row.
struct softmax_gradient {
  template <class V>
  static constexpr V apply(const std::array<V, 3>& in) {
    return (in[0] - in[1]) * in[2];
  }
};

// The gradient of y = log_softmax(x): dy - e^y sum, where sum is that of dy along the row.
struct log_softmax_gradient {
  template <class V>
  static constexpr V apply(const std::array<V, 3>& in) {
    return in[0] - exp(in[2]) * in[1];
  }
};

using all = type_list<is_extreme, share_of_extreme, softmax_gradient, log_softmax_gradient>;

}}}}  // namespace pinion::v0::scalar::formula
