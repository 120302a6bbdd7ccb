// Bodies of <pinion/op/attention/op.hpp>.
#pragma once

#include <string>

#include <pinion/op/attention/op.hpp>
#include <pinion/op/elementwise/formula.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace attending_to {

inline bool may_be_equal(std::int64_t a, std::int64_t b) {
  return a < 0 || b < 0 || a == b;
}

// Whether the leading axes of a query and a key fit, of which the last is that of heads: there it is a multiple.
inline bool lead_alike(const shape& q, const shape& k) {
  if (q.rank() != k.rank()) return false;
  for (int axis = 0; axis < q.rank() - 2; ++axis) {
    const std::int64_t a = q[axis], b = k[axis];
    const bool shared = axis == q.rank() - 3 && a > 0 && b > 0 && a % b == 0;
    if (!may_be_equal(a, b) && !shared) return false;
  }
  return true;
}

inline void expect_operands(const shape_context& c, int first) {
  c.expect_dtype(c.dtype(0), dtypes::floating);
  for (int i = 1; i < first + 3; ++i) c.expect_same_dtype(i);
  expect_compute(c);
  const shape &q = c.shape(first), &k = c.shape(first + 1), &v = c.shape(first + 2);
  const auto fit = [&] {
    for (const shape* of : {&q, &k, &v})
      if (of->has_rank() && of->rank() < 2) return false;
    if (q.has_rank() && k.has_rank() && !(lead_alike(q, k) && may_be_equal(q[q.rank() - 1], k[k.rank() - 1])))
      return false;
    if (!k.has_rank() || !v.has_rank()) return true;
    if (k.rank() != v.rank()) return false;
    for (int axis = 0; axis < k.rank() - 1; ++axis)
      if (!may_be_equal(k[axis], v[axis])) return false;
    return true;
  };
  if (!fit())
    c.fail(
        "queries of shape " + to_string(q) + ", keys of " + to_string(k) + " and values of " + to_string(v) +
        "; they are [..., heads, m, d], [..., heads, n, d] and [..., heads, n, e], where the heads of queries may be "
        "a multiple");
}

// The shape of the scores; any() where a rank is unknown.
inline shape scores_of(const shape& q, const shape& k) {
  if (!q.has_rank() || !k.has_rank()) return shape::any();
  shape of = q;
  of.set(q.rank() - 1, k[k.rank() - 2]);
  return of;
}

inline void expect_mask(const shape_context& c, int i, const shape& scores) {
  if (c.dtype(i) != dtype::boolean && c.dtype(i) != c.dtype(0))
    c.fail("a mask of " + std::string(to_string(c.dtype(i))) + " for attention of " +
           std::string(to_string(c.dtype(0))) + "; it is bool, or of that dtype");
  shape whole;
  if (!broadcast(scores, c.shape(i), whole) || (scores.has_rank() && whole.rank() > scores.rank()))
    c.fail("a mask of shape " + to_string(c.shape(i)) + " for scores of shape " + to_string(scores) +
           "; it broadcasts to them");
}

inline void expect_like(const shape_context& c, int i, const shape& wanted) {
  if (c.dtype(i) != c.dtype(0)) c.fail("input " + std::to_string(i) + " has another dtype than dy");
  if (!fits(c.shape(i), wanted))
    c.fail("input " + std::to_string(i) + " has shape " + to_string(c.shape(i)) + " where " + to_string(wanted) +
           " fits");
}

// The shape of y and that of the logarithms.
inline shape result_of(const shape& q, const shape& v) {
  if (!q.has_rank()) return shape::any();
  shape of = q;
  of.set(q.rank() - 1, v.has_rank() ? v[v.rank() - 1] : unknown);
  return of;
}
inline shape logarithms_of(const shape& q) {
  if (!q.has_rank()) return shape::any();
  shape of;
  for (int axis = 0; axis < q.rank() - 1; ++axis) of.push_back(q[axis]);
  return of;
}

}}}}}  // namespace pinion::v0::op::detail::attending_to

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void attention::infer(shape_context& c) {
  detail::attending_to::expect_operands(c, 0);
  const shape &q = c.shape(0), &k = c.shape(1);
  if (c.inputs() == 4) detail::attending_to::expect_mask(c, 3, detail::attending_to::scores_of(q, k));
  c.output(c.dtype(0), detail::attending_to::result_of(q, c.shape(2)));
  c.output(c.dtype(0), detail::attending_to::logarithms_of(q));
}

PINION_DECL double attention::work(const work_context& c) {
  const shape &q = c.input(0).shape, &k = c.input(1).shape;
  if (!q.has_rank() || !k.has_rank() || k.rank() < 2) return c.elements();
  return 4 * c.count(q) * c.extent(k, k.rank() - 2);
}

PINION_DECL void attention::gradient(gradient_context& g) {
  const bool has_mask = g.node().inputs.size() == 4;
  std::vector<pinion::output> read{g.output_gradient(0), g.input(0), g.input(1), g.input(2), g.output(0), g.output(1)};
  if (has_mask) read.push_back(g.input(3));
  if (g.has_output_gradient(1)) read.push_back(g.output_gradient(1));
  attributes attrs = g.attrs();
  attrs.set("masked", has_mask);
  const pinion::output made = g.make(attention_gradient::name, std::move(read), std::move(attrs));
  for (int i = 0; i < 3; ++i) g.set(i, {made.node, i});
  if (has_mask && is_floating(g.type_of(g.input(3)).dtype) && g.wants(3))
    g.set(3, sum_like(g, g.input(3), {made.node, 3}));
}

PINION_DECL void attention_gradient::infer(shape_context& c) {
  detail::attending_to::expect_operands(c, 1);
  const bool has_mask = c.attrs().get_or("masked", false);
  const int mask = 6, of_logarithms = has_mask ? 7 : 6;
  if (c.inputs() != of_logarithms && c.inputs() != of_logarithms + 1)
    c.fail(std::to_string(c.inputs()) + " inputs where " + std::to_string(of_logarithms) +
           " are expected, or one more");
  const shape &q = c.shape(1), &k = c.shape(2), &v = c.shape(3), scores = detail::attending_to::scores_of(q, k);
  detail::attending_to::expect_like(c, 0, detail::attending_to::result_of(q, v));
  detail::attending_to::expect_like(c, 4, detail::attending_to::result_of(q, v));
  detail::attending_to::expect_like(c, 5, detail::attending_to::logarithms_of(q));
  if (has_mask) detail::attending_to::expect_mask(c, mask, scores);
  if (c.inputs() > of_logarithms)
    detail::attending_to::expect_like(c, of_logarithms, detail::attending_to::logarithms_of(q));
  for (int i = 1; i < 4; ++i) c.output(c.dtype(0), c.shape(i));
  if (has_mask && c.dtype(mask) != dtype::boolean) c.output(c.dtype(0), scores);
}

PINION_DECL double attention_gradient::work(const work_context& c) {
  const shape &q = c.input(1).shape, &k = c.input(2).shape;
  if (!q.has_rank() || !k.has_rank() || k.rank() < 2) return c.elements();
  return 10 * c.count(q) * c.extent(k, k.rank() - 2);
}

}}}  // namespace pinion::v0::op
