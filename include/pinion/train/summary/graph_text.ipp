// Bodies of <pinion/train/summary/graph_text.hpp>.
#pragma once

#include <pinion/files/folder.hpp>
#include <pinion/files/output_file.hpp>
#include <pinion/train/summary/graph_message.hpp>
#include <pinion/train/summary/graph_text.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL void write_graph(graph_view g, const std::filesystem::path& dir, std::string_view name) {
  const std::string text = graph_text(graph_message(g));
  files::make_folder(dir);
  files::write_file(dir / name, text);
}

}}}  // namespace pinion::v0::train

#if PINION_HAS_PROTOZERO
#include <span>

#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>

namespace pinion { inline namespace v0 { namespace train {

namespace detail {

struct text_field;
using text_fields = std::span<const text_field>;

// A field of a message: its name and the form of its value; for a message also the fields in it.
struct text_field {
  protozero::pbf_tag_type number;
  std::string_view name;
  enum kind_t { text, integer, number_32, flag, data_type, message } kind;
  text_fields inside = {};
};

inline constexpr text_field axis_fields[] = {{1, "size", text_field::integer}};
inline constexpr text_field shape_fields[] = {{2, "dim", text_field::message, axis_fields},
                                              {3, "unknown_rank", text_field::flag}};
inline constexpr text_field tensor_fields[] = {{1, "dtype", text_field::data_type},
                                               {2, "tensor_shape", text_field::message, shape_fields},
                                               {4, "tensor_content", text_field::text},
                                               {8, "string_val", text_field::text}};
inline constexpr text_field list_fields[] = {
    {2, "s", text_field::text}, {3, "i", text_field::integer}, {7, "shape", text_field::message, shape_fields}};
inline constexpr text_field value_fields[] = {{1, "list", text_field::message, list_fields},
                                              {2, "s", text_field::text},
                                              {3, "i", text_field::integer},
                                              {4, "f", text_field::number_32},
                                              {5, "b", text_field::flag},
                                              {6, "type", text_field::data_type},
                                              {7, "shape", text_field::message, shape_fields},
                                              {8, "tensor", text_field::message, tensor_fields}};
inline constexpr text_field attribute_fields[] = {{1, "key", text_field::text},
                                                  {2, "value", text_field::message, value_fields}};
inline constexpr text_field node_fields[] = {{1, "name", text_field::text},
                                             {2, "op", text_field::text},
                                             {3, "input", text_field::text},
                                             {4, "device", text_field::text},
                                             {5, "attr", text_field::message, attribute_fields}};
inline constexpr text_field graph_fields[] = {{1, "node", text_field::message, node_fields}};

// A text quoted and escaped as in C: "a \"b\"\n\001".
inline std::string quoted_as_c(std::string_view text) {
  std::string s = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      s += {'\\', c};
    else if (c == '\n')
      s += "\\n";
    else if (byte < 0x20 || byte > 0x7e)
      s += fmt::format("\\{:03o}", byte);
    else
      s += c;
  }
  return s + "\"";
}

inline std::string_view data_type_name(int number) {
  switch (number) {
    case 1: return "DT_FLOAT";
    case 2: return "DT_DOUBLE";
    case 3: return "DT_INT32";
    case 4: return "DT_UINT8";
    case 7: return "DT_STRING";
    case 9: return "DT_INT64";
    case 10: return "DT_BOOL";
    case 14: return "DT_BFLOAT16";
    case 19: return "DT_HALF";
    default: return "DT_INVALID";
  }
}

// Appends the fields of a message in their order; fields that are not in the table are left out.
inline void append_text(std::string& to, protozero::pbf_reader from, text_fields known, const std::string& indent) {
  const auto line = [&](std::string_view name, std::string_view value) {
    to += fmt::format("{}{}: {}\n", indent, name, value);
  };
  while (from.next()) {
    const text_field* f = nullptr;
    for (const text_field& k : known)
      if (k.number == from.tag()) f = &k;
    if (!f) {
      from.skip();
      continue;
    }
    switch (f->kind) {
      case text_field::text: line(f->name, quoted_as_c(std::string(from.get_view()))); break;
      case text_field::flag: line(f->name, from.get_bool() ? "true" : "false"); break;
      case text_field::number_32: line(f->name, fmt::format("{}", from.get_float())); break;
      case text_field::data_type: line(f->name, data_type_name(from.get_enum())); break;
      case text_field::integer:
        if (from.wire_type() == protozero::pbf_wire_type::length_delimited)
          for (const std::int64_t n : from.get_packed_int64()) line(f->name, std::to_string(n));
        else
          line(f->name, std::to_string(from.get_int64()));
        break;
      case text_field::message:
        to += fmt::format("{}{} {{\n", indent, f->name);
        append_text(to, from.get_message(), f->inside, indent + "  ");
        to += indent + "}\n";
        break;
    }
  }
}

}  // namespace detail

PINION_DECL std::string graph_text(std::string_view graph_message) {
  std::string text;
  detail::append_text(text, protozero::pbf_reader(graph_message.data(), graph_message.size()), detail::graph_fields,
                      "");
  return text;
}

}}}  // namespace pinion::v0::train

#else
namespace pinion { inline namespace v0 { namespace train {
PINION_DECL std::string graph_text(std::string_view) {
  return op::check_messages_can_be_made(), "";
}
}}}  // namespace pinion::v0::train
#endif
