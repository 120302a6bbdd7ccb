// Summaries: what TensorBoard shows of values, made in the graph.
//
// The output of each is one string: a serialized Summary message, which an event file takes as it is. Attribute "tag":
// under which name it is shown, UTF-8. (TensorFlow 1 has the tag as an input.)
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

void infer_summary(shape_context& c, dtype_set types);

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
  static void infer(shape_context& c);
};

// Numbers of any shape -> how they are distributed, over TensorFlow's 1551 limits. A NaN or an infinity fails the step.
// With "counted" the numbers are 0, 1, ... and the input [n] says how often each was there; less than 0 fails the step.
struct histogram_summary : summary_op {
  static constexpr std::string_view name = "HistogramSummary";
  static void infer(shape_context& c);
  static double work(const work_context& c);
};

// Images [n, height, width, channels] of 1 (grey), 3 (RGB) or 4 (RGBA) channels, uint8, or float or double in [0, 1] ->
// the first "max_images" of them as PNG, tagged TAG/image/0 and so on, or TAG/image where that is 1. Floats outside
// [0, 1] count as the nearer end, and pixels that are no numbers are red.
struct image_summary : summary_op {
  static constexpr std::string_view name = "ImageSummary";
  static void infer(shape_context& c);
  static double work(const work_context& c);
};

// Strings of any shape -> text in Markdown: one string, or a table of those of a vector or matrix. (TensorFlow has the
// general TensorSummaryV2 for it.)
struct text_summary : summary_op {
  static constexpr std::string_view name = "TextSummary";
  static void infer(shape_context& c);
};

// Summaries, strings of any shape -> one with all their values. A tag that is there twice fails the step.
struct merge_summary : summary_op {
  static constexpr std::string_view name = "MergeSummary";
  static constexpr input_count inputs = at_least(1);
  static void infer(shape_context& c);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/summary/op.ipp>
#endif
