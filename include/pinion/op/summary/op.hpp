// Summaries: values as TensorBoard shows them, made in the graph.
//
// Each yields one string, a serialized Summary message, which an event file takes unchanged. Attribute "tag" is the
// name under which the value is shown, in UTF-8. (In TensorFlow 1 the tag is an input.)
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

void infer_summary(shape_context& c, dtype_set types);

}  // namespace detail

struct summary_op {
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::text("tag")};
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::string}};
  static constexpr bool on_host = true;
  static constexpr std::string_view no_gradient = "a summary is text";
};

// A number [] -> a point of a curve, as a float.
struct scalar_summary : summary_op {
  static constexpr std::string_view name = "ScalarSummary";
  static void infer(shape_context& c);
};

// Numbers of any shape -> their histogram, over TensorFlow's 1551 limits. A NaN or an infinity fails the step. With
// "counted" the input [n] says how often each of the numbers 0, 1, ... occurred; a negative count fails the step.
struct histogram_summary : summary_op {
  static constexpr std::string_view name = "HistogramSummary";
  static constexpr attribute_list attrs = summary_op::attrs + attribute_list{attr::flag("counted").optional()};
  static void infer(shape_context& c);
  static double work(const work_context& c);
};

// Images [n, height, width, channels] of 1 (grey), 3 (RGB) or 4 (RGBA) channels, uint8, or float or double in [0, 1] ->
// the first "max_images" of them as PNG, tagged TAG/image/0 and so on, or TAG/image where "max_images" is 1. Floats
// outside [0, 1] are clamped, and a pixel that is not finite is red.
struct image_summary : summary_op {
  static constexpr std::string_view name = "ImageSummary";
  static constexpr attribute_list attrs = summary_op::attrs + attribute_list{attr::integer("max_images")};
  static void infer(shape_context& c);
  static double work(const work_context& c);
};

// Strings of any shape -> text in Markdown: one string, or a table for a vector or matrix. (TensorFlow uses its general
// TensorSummaryV2.)
struct text_summary : summary_op {
  static constexpr std::string_view name = "TextSummary";
  static void infer(shape_context& c);
};

// Summaries, strings of any shape -> one summary with all their values. A tag that occurs twice fails the step.
struct merge_summary : summary_op {
  static constexpr std::string_view name = "MergeSummary";
  static constexpr input_count inputs = at_least(1);
  static constexpr attribute_list attrs{};
  static void infer(shape_context& c);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/summary/op.ipp>
#endif
