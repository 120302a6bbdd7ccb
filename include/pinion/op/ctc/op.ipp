// Bodies of <pinion/op/ctc/op.hpp>.
#pragma once

#include <string>
#include <string_view>

#include <pinion/op/ctc/op.hpp>
#include <pinion/opkit/gradient_context.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace ctc {

inline void expect_floating(const shape_context& c, int i) {
  if (!dtypes::floating.has(c.dtype(i)))
    c.fail(c.op() + " of logits of " + std::string(to_string(c.dtype(i))) + "; they are float or double");
}

inline void expect_integers(const shape_context& c, int i, std::string_view what) {
  if (c.dtype(i) != dtype::int32 && c.dtype(i) != dtype::int64)
    c.fail(std::string(what) + " of " + std::string(to_string(c.dtype(i))) + "; they are int32 or int64");
}

inline std::int64_t extent_of(const shape_context& c, int i, int axis) {
  return c.shape(i).has_rank() ? c.shape(i)[axis] : unknown;
}

// Joins the extent of an axis of input i into one that other inputs have as well.
inline void join_batch(const shape_context& c, int i, int axis, std::string_view what, std::int64_t& batch) {
  const std::int64_t extent = extent_of(c, i, axis);
  if (batch >= 0 && extent >= 0 && batch != extent)
    c.fail(std::string(what) + " of shape " + to_string(c.shape(i)) + " have " + std::to_string(extent) +
           " rows where the logits have " + std::to_string(batch));
  if (extent >= 0) batch = extent;
}

// Checks the lengths at input i, [batch].
inline void see_lengths(const shape_context& c, int i, std::string_view what, std::int64_t& batch) {
  expect_integers(c, i, what);
  c.expect_rank(i, 1, what);
  join_batch(c, i, 0, what, batch);
}

inline void expect_blank(const shape_context& c, std::int64_t classes) {
  const auto blank = c.attrs().get<std::int64_t>("blank");
  if (classes >= 0 && (blank < -classes || blank >= classes))
    c.fail("the blank " + std::to_string(blank) + " is none of " + std::to_string(classes) + " classes");
}

}}}}}  // namespace pinion::v0::op::detail::ctc

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void ctc_loss::infer(shape_context& c) {
  using namespace detail::ctc;
  const bool labels = c.attrs().get_or("label_lengths", false), logits = c.attrs().get_or("logit_lengths", false);
  if (c.inputs() != 2 + labels + logits)
    c.fail("CTCLoss of " + std::to_string(c.inputs()) + " inputs, with attributes for " +
           std::to_string(labels + logits) + " lengths behind labels and logits");
  expect_integers(c, 0, "the labels");
  expect_floating(c, 1);
  c.expect_rank(0, 2, "the labels");
  c.expect_rank(1, 3, "the logits");
  std::int64_t batch = extent_of(c, 1, 1);
  join_batch(c, 0, 0, "labels", batch);
  for (int i = 2; i < c.inputs(); ++i) see_lengths(c, i, "the lengths", batch);
  expect_blank(c, extent_of(c, 1, 2));
  c.output(c.dtype(1), {batch});
  c.output(c.dtype(1), {extent_of(c, 1, 0), batch, extent_of(c, 1, 2)});
}

PINION_DECL void ctc_loss::gradient(gradient_context& g) {
  if (g.has_output_gradient(1)) g.fail(std::string(ctc_loss_gradient::no_gradient));
  g.set(1, g.make(ctc_loss_gradient::name, {g.output_gradient(0), g.output(1)}));
}

PINION_DECL double ctc_loss::work(const work_context& c) {
  return 32 * c.elements();
}

PINION_DECL void ctc_loss_gradient::infer(shape_context& c) {
  using namespace detail::ctc;
  expect_floating(c, 1);
  if (c.dtype(0) != c.dtype(1))
    c.fail("a gradient of " + std::string(to_string(c.dtype(0))) + " for losses of " +
           std::string(to_string(c.dtype(1))));
  c.expect_rank(0, 1, "the gradient of the losses");
  c.expect_rank(1, 3, "the gradient of the logits");
  std::int64_t batch = extent_of(c, 1, 1);
  join_batch(c, 0, 0, "gradients", batch);
  c.output(c.dtype(1), {extent_of(c, 1, 0), batch, extent_of(c, 1, 2)});
}

PINION_DECL dtype ctc_greedy_decoder::key(const node& n) {
  return n.outputs.size() < 3 ? dtype::invalid : n.outputs[2].dtype;
}

PINION_DECL void ctc_greedy_decoder::infer(shape_context& c) {
  using namespace detail::ctc;
  expect_floating(c, 0);
  c.expect_rank(0, 3, "the logits");
  std::int64_t batch = extent_of(c, 0, 1);
  if (c.inputs() == 2) see_lengths(c, 1, "the lengths", batch);
  expect_blank(c, extent_of(c, 0, 2));
  c.output(dtype::int64, {batch, extent_of(c, 0, 0)});
  c.output(dtype::int64, {batch});
  c.output(c.dtype(0), {batch, 1});
}

}}}  // namespace pinion::v0::op
