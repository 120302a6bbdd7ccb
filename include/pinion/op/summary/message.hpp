// Summary messages, as bytes: what summary ops yield and event files hold. Source: TensorFlow's summary.proto.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/op/summary/histogram.hpp>
#include <pinion/op/summary/png.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace op {

// Throws unimplemented in a build without protozero, as all of these then do.
void check_messages_can_be_made();

// Summaries of one value. Tags are UTF-8.
std::string scalar_message(std::string_view tag, float value);
std::string histogram_message(std::string_view tag, const histogram& h);
std::string image_message(std::string_view tag, const picture& image);
// Strings of any shape, for TensorBoard's page of texts.
std::string text_message(std::string_view tag, const any_tensor& strings);
// What a plug-in of TensorBoard reads from the description of a value alone, and the value is an empty tensor.
std::string plugin_message(std::string_view tag, std::string_view plugin, std::string_view content);

// One with the values of all. Throws invalid_argument where one is no summary, or a tag is there twice.
std::string merged_message(std::span<const std::string_view> summaries);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/summary/message.ipp>
#endif
