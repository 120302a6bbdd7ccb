// Bodies of <pinion/op/summary/message.hpp>.
#pragma once

#include <pinion/base/utf8.hpp>
#include <pinion/op/summary/message.hpp>

#if PINION_HAS_PROTOZERO
#include <set>
#include <utility>

#include <protozero/pbf_builder.hpp>
#include <protozero/pbf_message.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

enum class summary_field : protozero::pbf_tag_type { value = 1 };
enum class value_field : protozero::pbf_tag_type {
  tag = 1,
  number = 2,
  image = 4,
  histogram = 5,
  tensor = 8,
  about = 9
};
enum class about_field : protozero::pbf_tag_type { plugin = 1, kind = 4 };
enum class plugin_field : protozero::pbf_tag_type { name = 1, content = 2 };
enum class image_field : protozero::pbf_tag_type { height = 1, width = 2, colours = 3, file = 4 };
enum class histogram_field : protozero::pbf_tag_type {
  min = 1,
  max = 2,
  count = 3,
  sum = 4,
  sum_of_squares = 5,
  limits = 6,
  counts = 7
};
enum class tensor_field : protozero::pbf_tag_type { type = 1, shape = 2, strings = 8 };
enum class shape_field : protozero::pbf_tag_type { axis = 2 };
enum class axis_field : protozero::pbf_tag_type { extent = 1 };

inline constexpr int tensor_type_float = 1, tensor_type_string = 7;
inline constexpr int kind_tensor = 2;

template <class Fill>
std::string value_message(std::string_view tag, Fill&& fill) {
  std::string bytes;
  {
    protozero::pbf_builder<summary_field> summary(bytes);
    protozero::pbf_builder<value_field> value(summary, summary_field::value);
    value.add_string(value_field::tag, tag.data(), tag.size());
    fill(value);
  }  // destroying a builder writes its length
  return bytes;
}

inline void add_about(protozero::pbf_builder<value_field>& value, std::string_view plugin, std::string_view content) {
  protozero::pbf_builder<about_field> about(value, value_field::about);
  {
    protozero::pbf_builder<plugin_field> in(about, about_field::plugin);
    in.add_string(plugin_field::name, plugin.data(), plugin.size());
    if (!content.empty()) in.add_bytes(plugin_field::content, content.data(), content.size());
  }
  about.add_enum(about_field::kind, kind_tensor);
}

inline void add_shape(protozero::pbf_builder<tensor_field>& tensor, const shape& extent) {
  std::string bytes;
  protozero::pbf_builder<shape_field> s(bytes);
  for (const std::int64_t n : extent.dims()) {
    protozero::pbf_builder<axis_field> axis(s, shape_field::axis);
    axis.add_int64(axis_field::extent, n);  // even for 0: a builder drops an empty message
  }
  tensor.add_message(tensor_field::shape, bytes);
}

// Calls each(tag) for every value of a summary. Throws the errors of protozero, which trusts the types of fields.
template <class Each>
void for_each_tag(std::string_view summary, Each&& each) {
  constexpr auto bytes = protozero::pbf_wire_type::length_delimited;
  protozero::pbf_message<summary_field> message(summary.data(), summary.size());
  while (message.next()) {
    if (message.tag() != summary_field::value || message.wire_type() != bytes) {
      message.skip();
      continue;
    }
    std::string tag;
    for (protozero::pbf_message<value_field> value(message.get_message()); value.next();) {
      if (value.tag() == value_field::tag && value.wire_type() == bytes)
        tag = value.get_string();
      else
        value.skip();
    }
    each(std::move(tag));
  }
}

}  // namespace detail

PINION_DECL void check_messages_can_be_made() {}

PINION_DECL std::string scalar_message(std::string_view tag, float value) {
  return detail::value_message(tag, [&](auto& v) { v.add_float(detail::value_field::number, value); });
}

PINION_DECL std::string histogram_message(std::string_view tag, const histogram& h) {
  using detail::histogram_field;
  std::vector<double> limits, counts;
  for (const histogram::bucket& b : h.buckets()) {
    limits.push_back(b.limit);
    counts.push_back(b.count);
  }
  return detail::value_message(tag, [&](auto& v) {
    protozero::pbf_builder<histogram_field> out(v, detail::value_field::histogram);
    const auto add = [&](histogram_field field, double x) {
      if (x != 0) out.add_double(field, x);
    };
    add(histogram_field::min, h.min);
    add(histogram_field::max, h.max);
    add(histogram_field::count, h.count);
    add(histogram_field::sum, h.sum);
    add(histogram_field::sum_of_squares, h.sum_of_squares);
    out.add_packed_double(histogram_field::limits, limits.begin(), limits.end());
    out.add_packed_double(histogram_field::counts, counts.begin(), counts.end());
  });
}

PINION_DECL std::string image_message(std::string_view tag, const picture& image) {
  using detail::image_field;
  const std::string file = encode_png(image);
  return detail::value_message(tag, [&](auto& v) {
    protozero::pbf_builder<image_field> out(v, detail::value_field::image);
    out.add_int32(image_field::height, static_cast<std::int32_t>(image.height));
    out.add_int32(image_field::width, static_cast<std::int32_t>(image.width));
    out.add_int32(image_field::colours, image.channels);
    out.add_bytes(image_field::file, file);
  });
}

PINION_DECL std::string text_message(std::string_view tag, const any_tensor& strings) {
  using detail::tensor_field;
  return detail::value_message(tag, [&](auto& v) {
    detail::add_about(v, "text", "");
    protozero::pbf_builder<tensor_field> out(v, detail::value_field::tensor);
    out.add_enum(tensor_field::type, detail::tensor_type_string);
    detail::add_shape(out, strings.shape());
    for (std::int64_t i = 0; i < strings.count(); ++i)
      out.add_bytes(tensor_field::strings, strings.data<std::string>()[i]);
  });
}

PINION_DECL std::string plugin_message(std::string_view tag, std::string_view plugin, std::string_view content) {
  using detail::tensor_field;
  return detail::value_message(tag, [&](auto& v) {
    detail::add_about(v, plugin, content);
    protozero::pbf_builder<tensor_field> out(v, detail::value_field::tensor);
    out.add_enum(tensor_field::type, detail::tensor_type_float);
    detail::add_shape(out, {0});
  });
}

PINION_DECL std::string merged_message(std::span<const std::string_view> summaries) {
  std::string merged;
  std::set<std::string> tags;
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    try {
      detail::for_each_tag(summaries[i], [&](std::string tag) {
        if (!is_utf8(tag))
          throw error(errc::invalid_argument, "summary " + std::to_string(i) + " has a tag that is not UTF-8");
        if (!tags.insert(tag).second)
          throw error(errc::invalid_argument, "two summaries have the tag '" + tag + "', which shows one curve");
      });
    } catch (const protozero::exception& e) {
      throw error(errc::invalid_argument,
                  "string " + std::to_string(i) + " is no serialized summary (" + e.what() + ")");
    }
    merged.append(summaries[i]);  // messages one after the other hold the values of both
  }
  return merged;
}

}}}  // namespace pinion::v0::op

#else

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void check_messages_can_be_made() {
  throw error(errc::unimplemented,
              "summaries and event files need protozero, which was not found when pinion was configured (Debian, "
              "Ubuntu: apt-get install libprotozero-dev)");
}
PINION_DECL std::string scalar_message(std::string_view, float) {
  return check_messages_can_be_made(), "";
}
PINION_DECL std::string histogram_message(std::string_view, const histogram&) {
  return check_messages_can_be_made(), "";
}
PINION_DECL std::string image_message(std::string_view, const picture&) {
  return check_messages_can_be_made(), "";
}
PINION_DECL std::string text_message(std::string_view, const any_tensor&) {
  return check_messages_can_be_made(), "";
}
PINION_DECL std::string plugin_message(std::string_view, std::string_view, std::string_view) {
  return check_messages_can_be_made(), "";
}
PINION_DECL std::string merged_message(std::span<const std::string_view>) {
  return check_messages_can_be_made(), "";
}

}}}  // namespace pinion::v0::op
#endif
