// The parts of classification that all devices share: tensors as rows, checks, and the dtypes.
#pragma once

#include <cstdint>
#include <string>

#include <pinion/op/reduce/shared.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// A tensor seen as a matrix: its last extent, and the product of those before.
struct matrix_view {
  std::int64_t rows = 1, columns = 1;
  explicit matrix_view(const shape& s, int first_column = -1) {
    const int split = first_column < 0 ? s.rank() + first_column : first_column;
    for (int i = 0; i < s.rank(); ++i) (i < split ? rows : columns) *= s[i];
  }
};

inline void expect_same_rows(const kernel_context& c, bool columns_too) {
  const shape &a = c.input(0).shape(), &b = c.input(1).shape();
  if (a.rank() < 1 || b.rank() < 1 || a[0] != b[0] || (columns_too && !(a == b)))
    throw error(errc::invalid_argument, "shapes " + to_string(a) + " and " + to_string(b) + " do not go together");
}

// The error of a label that is no class.
inline error wrong_label(std::int64_t row, std::int64_t label, std::int64_t classes) {
  return error(errc::invalid_argument, "the label " + std::to_string(label) + " of row " + std::to_string(row) +
                                           " is not in [0, " + std::to_string(classes) + ")");
}

// Calls f.operator()<T, Index>() with the types of a floating dtype and an integer one.
template <class F>
decltype(auto) visit_indexed(dtype value, dtype index, F&& f) {
  return visit_plain<dtypes::floating>(value, [&]<class T>() {
    return visit_plain<dtypes::signed_integers>(index,
                                                [&]<class Index>() { return f.template operator()<T, Index>(); });
  });
}

}}}}  // namespace pinion::v0::op::detail
