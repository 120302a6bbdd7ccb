// Bodies of <pinion/train/summary/event.hpp>.
#pragma once

#include <pinion/base/error.hpp>
#include <pinion/op/summary/message.hpp>
#include <pinion/train/summary/event.hpp>

#if PINION_HAS_PROTOZERO
#include <cmath>
#include <cstring>

#include <protozero/pbf_builder.hpp>
#include <protozero/pbf_message.hpp>

namespace pinion { inline namespace v0 { namespace train {

namespace detail {

using protozero::pbf_tag_type;
using protozero::pbf_wire_type;

enum class event_field : pbf_tag_type { wall_time = 1, step = 2 };
enum class session_field : pbf_tag_type { mark = 1, path = 2 };
enum class hparams_field : pbf_tag_type { start = 3 };
enum class start_field : pbf_tag_type { all = 1, time = 5 };
enum class entry_field : pbf_tag_type { name = 1, value = 2 };
enum class any_field : pbf_tag_type { number = 2, text = 3, flag = 4 };

// The reader trusts the types of fields, so they are asked for first.
inline bool is(const protozero::pbf_reader& at, std::uint32_t field, pbf_wire_type type) {
  return at.tag() == field && at.wire_type() == type;
}
inline protozero::pbf_reader reader_of(std::string_view bytes) {
  return protozero::pbf_reader(bytes.data(), bytes.size());
}
template <class F>
auto decoding(const char* what, F&& f) {
  try {
    return f();
  } catch (const protozero::exception& e) {
    throw error(errc::data_loss, std::string("bytes that are no ") + what + " (" + e.what() + ")");
  }
}

// True for a tensor of one float, the form in which newer writers put a scalar; `value` receives it.
inline bool is_float(protozero::pbf_reader tensor, float& value) {
  bool is_float = false, found = false;
  while (tensor.next()) {
    if (is(tensor, 1, pbf_wire_type::varint)) {
      is_float = tensor.get_enum() == 1;
    } else if (is(tensor, 4, pbf_wire_type::length_delimited) || is(tensor, 5, pbf_wire_type::length_delimited)) {
      const auto bytes = tensor.get_view();
      found = bytes.size() == sizeof value;
      if (found) std::memcpy(&value, bytes.data(), sizeof value);
    } else if (is(tensor, 5, pbf_wire_type::fixed32)) {
      value = tensor.get_float();
      found = true;
    } else {
      tensor.skip();
    }
  }
  return is_float && found;
}

inline void add_scalar_of(protozero::pbf_reader value, std::vector<scalar_event>& to) {
  scalar_event one;
  bool found = false;
  while (value.next()) {
    if (is(value, 1, pbf_wire_type::length_delimited)) {
      one.tag = value.get_string();
    } else if (is(value, 2, pbf_wire_type::fixed32)) {
      one.value = value.get_float();
      found = true;
    } else if (is(value, 8, pbf_wire_type::length_delimited)) {
      found = is_float(value.get_message(), one.value);
    } else {
      value.skip();
    }
  }
  if (found) to.push_back(std::move(one));
}

}  // namespace detail

PINION_DECL std::string encode(const event& e) {
  if (!std::isfinite(e.wall_time)) throw error(errc::invalid_argument, "an event needs a time that is a number");
  if (e.body.size() > (std::size_t{1} << 31) - 64)
    throw error(errc::invalid_argument,
                "an event of " + std::to_string(e.body.size()) + " bytes: no reader takes one of 2 GiB or more");
  std::string bytes;
  protozero::pbf_writer out(bytes);
  out.add_double(static_cast<std::uint32_t>(detail::event_field::wall_time), e.wall_time);
  if (e.step != 0) out.add_int64(static_cast<std::uint32_t>(detail::event_field::step), e.step);
  if (e.kind != event_kind::nothing) out.add_bytes(static_cast<std::uint32_t>(e.kind), e.body);
  return bytes;
}

PINION_DECL event decode_event(std::string_view bytes) {
  using detail::is;
  return detail::decoding("event", [&] {
    event e;
    for (auto at = detail::reader_of(bytes); at.next();) {
      if (is(at, 1, detail::pbf_wire_type::fixed64)) {
        e.wall_time = at.get_double();
      } else if (is(at, 2, detail::pbf_wire_type::varint)) {
        e.step = at.get_int64();
      } else if ((at.tag() >= 3 && at.tag() <= 5) || (at.tag() >= 7 && at.tag() <= 9)) {
        if (at.wire_type() != detail::pbf_wire_type::length_delimited) {
          at.skip();
          continue;
        }
        e.kind = static_cast<event_kind>(at.tag());
        e.body = at.get_bytes();
      } else {
        at.skip();
      }
    }
    return e;
  });
}

PINION_DECL std::vector<scalar_event> scalars_of(const event& e) {
  return detail::decoding("summary", [&] {
    std::vector<scalar_event> all;
    if (e.kind != event_kind::summary) return all;
    for (auto at = detail::reader_of(e.body); at.next();) {
      if (detail::is(at, 1, detail::pbf_wire_type::length_delimited))
        detail::add_scalar_of(at.get_message(), all);
      else
        at.skip();
    }
    return all;
  });
}

PINION_DECL std::string session_log_message(session_mark mark, std::string_view checkpoint_path) {
  std::string bytes;
  protozero::pbf_builder<detail::session_field> out(bytes);
  out.add_enum(detail::session_field::mark, static_cast<std::int32_t>(mark));
  if (!checkpoint_path.empty())
    out.add_string(detail::session_field::path, checkpoint_path.data(), checkpoint_path.size());
  return bytes;
}

PINION_DECL std::string hyperparameters_message(const std::vector<hyperparameter>& all, double start_time) {
  std::string bytes;
  {
    protozero::pbf_builder<detail::hparams_field> out(bytes);
    protozero::pbf_builder<detail::start_field> start(out, detail::hparams_field::start);
    for (const hyperparameter& h : all) {
      protozero::pbf_builder<detail::entry_field> entry(start, detail::start_field::all);
      entry.add_string(detail::entry_field::name, h.name);
      protozero::pbf_builder<detail::any_field> value(entry, detail::entry_field::value);
      switch (h.is) {
        case hyperparameter::type::number: value.add_double(detail::any_field::number, h.number); break;
        case hyperparameter::type::text: value.add_string(detail::any_field::text, h.text); break;
        case hyperparameter::type::flag: value.add_bool(detail::any_field::flag, h.number != 0); break;
      }
    }
    start.add_double(detail::start_field::time, start_time);
  }  // a builder writes the length of its message when it is destroyed
  return bytes;
}

}}}  // namespace pinion::v0::train

#else

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL std::string encode(const event&) {
  return op::check_messages_can_be_made(), "";
}
PINION_DECL event decode_event(std::string_view) {
  return op::check_messages_can_be_made(), event{};
}
PINION_DECL std::vector<scalar_event> scalars_of(const event&) {
  return op::check_messages_can_be_made(), std::vector<scalar_event>{};
}
PINION_DECL std::string session_log_message(session_mark, std::string_view) {
  return op::check_messages_can_be_made(), "";
}
PINION_DECL std::string hyperparameters_message(const std::vector<hyperparameter>&, double) {
  return op::check_messages_can_be_made(), "";
}

}}}  // namespace pinion::v0::train
#endif
