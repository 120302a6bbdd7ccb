// Summary messages as bytes, which summary ops yield and event files hold. Source: TensorFlow's summary.proto.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/op/summary/histogram.hpp>
#include <pinion/op/summary/png.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace op {

// Throws unimplemented in a build without protozero. So do all functions below.
void check_messages_can_be_made();

// Summaries of one value under a tag in UTF-8.
std::string scalar_message(std::string_view tag, float value);
std::string histogram_message(std::string_view tag, const histogram& h);
std::string image_message(std::string_view tag, const picture& image);
// A summary of strings of any shape, for TensorBoard's page of texts.
std::string text_message(std::string_view tag, const any_tensor& strings);
// A summary for a plug-in of TensorBoard that reads only the description of a value: the value is an empty tensor.
std::string plugin_message(std::string_view tag, std::string_view plugin, std::string_view content);

// One summary with the values of all. Throws invalid_argument for text that is no summary, and for a tag that occurs
// twice.
std::string merged_message(std::span<const std::string_view> summaries);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/summary/message.ipp>
#endif
