// Summaries: what TensorBoard shows of values, made in the graph.
//
// The output of each is one string: a serialized Summary message, which an event file takes as it is. Attribute "tag":
// under which name it is shown, UTF-8. (TensorFlow 1 has the tag as an input.)
#pragma once

#include <string>

#include <pinion/base/utf8.hpp>
#include <pinion/op/definition.hpp>
#include <pinion/op/shape_context.hpp>
#include <pinion/op/work_context.hpp>

namespace pinion::inline v0::op {

namespace detail {

inline void infer_summary(shape_context& c, dtype_set types) {
  const auto& tag = c.attrs().get<std::string>("tag");
  if (tag.empty()) c.fail("a summary without a tag is shown nowhere");
  if (tag.size() > 4096) c.fail("a tag of " + std::to_string(tag.size()) + " bytes; 4096 would do");
  if (!is_utf8(tag)) c.fail("a tag that is not UTF-8 makes a file unreadable");
  if (!types.has(c.dtype(0))) c.fail(c.op() + " of " + std::string(to_string(c.dtype(0))) + " is not defined");
  c.output(dtype::string, {});
}

}  // namespace detail

struct summary_op {
  static constexpr input_count inputs = 1;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::string}};
  static constexpr bool on_host = true;
  static constexpr std::string_view no_gradient = "a summary is text";
};

// A number [] -> a point of a curve, as a float.
struct scalar_summary : summary_op {
  static constexpr std::string_view name = "ScalarSummary";
  static void infer(shape_context& c) {
    detail::infer_summary(c, dtypes::numbers);
    if (c.shape(0).has_rank() && c.shape(0).rank() != 0)
      c.fail("a scalar summary of a tensor of shape " + to_string(c.shape(0)) +
             "; it takes one number, and a histogram takes many");
  }
};

// Numbers of any shape -> how they are distributed, over TensorFlow's 1551 limits. A NaN or an infinity fails the step.
// With "counted" the numbers are 0, 1, ... and the input [n] says how often each was there; less than 0 fails the step.
struct histogram_summary : summary_op {
  static constexpr std::string_view name = "HistogramSummary";
  static void infer(shape_context& c) {
    detail::infer_summary(c, dtypes::numbers);
    if (c.attrs().get_or("counted", false)) c.expect_rank(0, 1, "counts");
  }
  static double work(const work_context& c) { return 20 * c.count(c.input(0).shape); }
};

// Images [n, height, width, channels] of 1 (grey), 3 (RGB) or 4 (RGBA) channels, uint8, or float or double in [0, 1] ->
// the first "max_images" of them as PNG, tagged TAG/image/0 and so on, or TAG/image where that is 1. Floats outside
// [0, 1] count as the nearer end, and pixels that are no numbers are red.
struct image_summary : summary_op {
  static constexpr std::string_view name = "ImageSummary";
  static void infer(shape_context& c) {
    detail::infer_summary(c, dtypes::floating | dtype_set{dtype::uint8});
    if (c.attrs().get<std::int64_t>("max_images") < 1) c.fail("an image summary of less than one image");
    c.expect_rank(0, 4, "the images");
    if (!c.shape(0).has_rank()) return;
    const std::int64_t channels = c.shape(0)[3];
    if (channels != unknown && channels != 1 && channels != 3 && channels != 4)
      c.fail("images of " + std::to_string(channels) + " channels; 1, 3 or 4 would do");
  }
  static double work(const work_context& c) { return 10 * c.count(c.input(0).shape); }
};

// Strings of any shape -> text in Markdown: one string, or a table of those of a vector or matrix. (TensorFlow has the
// general TensorSummaryV2 for it.)
struct text_summary : summary_op {
  static constexpr std::string_view name = "TextSummary";
  static void infer(shape_context& c) { detail::infer_summary(c, dtype_set{dtype::string}); }
};

// Summaries, strings of any shape -> one with all their values. A tag that is there twice fails the step.
struct merge_summary : summary_op {
  static constexpr std::string_view name = "MergeSummary";
  static constexpr input_count inputs = at_least(1);
  static void infer(shape_context& c) {
    for (int i = 0; i < c.inputs(); ++i)
      if (c.dtype(i) != dtype::string)
        c.fail("input " + std::to_string(i) + " is of " + std::string(to_string(c.dtype(i))) +
               "; summaries are strings");
    c.output(dtype::string, {});
  }
};

}  // namespace pinion::inline v0::op
