// Equations of einsum: "bij,bjk->bik" names the axes of two operands and of the result by labels.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/attribute.hpp>
#include <pinion/tensor/shape.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// An equation: for each operand, and for the result, the labels of its axes, which are letters. A '.' stands for any
// number of axes, those of an ellipsis.
struct einsum_equation {
  std::vector<std::string> operands;
  std::string result;

  // Reads "ij,jk->ik". Blanks are left out. Without "->" the result has the ellipsis, if there is one, and the labels
  // that stand once, in the order of the alphabet. Throws invalid_argument for other text.
  static einsum_equation parse(std::string_view text);
  std::string text() const;
};

// The equation of a node of einsum, and that of a product of matrices.
einsum_equation equation_of_einsum(const attributes& attrs);
einsum_equation equation_of_product(const attributes& attrs);

// The labels of the axes of a tensor of that rank. The axes of an ellipsis have negative ones: -1 is the last of them.
// Throws invalid_argument where the term names another number of axes.
std::vector<int> labels_of(const std::string& term, int rank);

// The extents of all labels of an equation. Axes of one letter have one extent. Those of ellipses broadcast.
class label_extents {
 public:
  // Throws invalid_argument where the shape does not fit the term, or disagrees with an earlier one.
  void add(const std::string& term, const shape& of);
  // The shape of a tensor of that term; any() where it has an ellipsis and the rank of one is unknown.
  shape shape_of(const std::string& term) const;
  const std::map<int, std::int64_t>& all() const { return extents_; }

 private:
  void set(int label, std::int64_t extent);
  std::map<int, std::int64_t> extents_;
  bool some_unknown_ellipsis_ = false;
};

// The shape of the result of an equation of operands of those shapes, which are one or two. Throws invalid_argument
// where they do not fit.
shape shape_of_einsum(const einsum_equation& equation, const std::vector<shape>& operands);

}}}}  // namespace pinion::v0::op::detail

#if PINION_HEADER_ONLY
#include <pinion/op/einsum/equation.ipp>
#endif
