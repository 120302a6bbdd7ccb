// Bodies of <pinion/op/summary/op.hpp>.
#pragma once

#include <string>

#include <pinion/base/utf8.hpp>
#include <pinion/op/summary/op.hpp>
#include <pinion/opkit/shape_context.hpp>
#include <pinion/opkit/work_context.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL void infer_summary(shape_context& c, dtype_set types) {
  const auto& tag = c.attrs().get<std::string>("tag");
  if (tag.empty()) c.fail("a summary without a tag is shown nowhere");
  if (!is_utf8(tag)) c.fail("a tag that is not UTF-8 makes a file unreadable");
  c.expect_dtype(c.dtype(0), types);
  c.output(dtype::string, {});
}

}}}}  // namespace pinion::v0::op::detail

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void scalar_summary::infer(shape_context& c) {
  detail::infer_summary(c, dtypes::numbers);
  if (c.shape(0).has_rank() && c.shape(0).rank() != 0)
    c.fail("a scalar summary of a tensor of shape " + to_string(c.shape(0)) +
           "; it takes one number, and a histogram takes many");
}

PINION_DECL void histogram_summary::infer(shape_context& c) {
  detail::infer_summary(c, dtypes::numbers);
  if (c.attrs().get_or("counted", false)) c.expect_rank(0, 1, "counts");
}

PINION_DECL double histogram_summary::work(const work_context& c) {
  return 20 * c.count(c.input(0).shape);
}

PINION_DECL void image_summary::infer(shape_context& c) {
  detail::infer_summary(c, dtypes::floating | dtype_set{dtype::uint8});
  if (c.attrs().get<std::int64_t>("max_images") < 1) c.fail("an image summary of less than one image");
  c.expect_rank(0, 4, "the images");
  if (!c.shape(0).has_rank()) return;
  const std::int64_t channels = c.shape(0)[3];
  if (channels >= 0 && channels != 1 && channels != 3 && channels != 4)
    c.fail("images of " + std::to_string(channels) + " channels; 1, 3 or 4 would do");
}

PINION_DECL double image_summary::work(const work_context& c) {
  return 10 * c.count(c.input(0).shape);
}

PINION_DECL void text_summary::infer(shape_context& c) {
  detail::infer_summary(c, dtype_set{dtype::string});
}

PINION_DECL void merge_summary::infer(shape_context& c) {
  for (int i = 0; i < c.inputs(); ++i)
    if (c.dtype(i) != dtype::string)
      c.fail("input " + std::to_string(i) + " is of " + std::string(to_string(c.dtype(i))) + "; summaries are strings");
  c.output(dtype::string, {});
}

}}}  // namespace pinion::v0::op
