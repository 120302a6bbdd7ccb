// Messages taken apart into their fields, and forged: cut off before one, filled with nonsense, or with a payload that
// is not what they say of it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/rpc/message.hpp>

namespace anatomy {

using namespace pinion;

// Writes the fields of a message, and where each begins.
struct spelling {
  rpc::writer to;
  std::vector<std::size_t> begins;

  template <class... Field>
  void operator()(Field&... fields) {
    (put(fields), ...);
  }
  template <class Field>
  void put(Field& one) {
    begins.push_back(to.control.size());
    to(one);
  }
};

inline std::vector<std::string> names_of(std::string_view fields) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < fields.size();) {
    const std::size_t end = std::min(fields.find(", ", at), fields.size());
    names.emplace_back(fields.substr(at, end - at));
    at = end + 2;
  }
  return names;
}

// One way to spoil a message: what is wrong with which field, whether it can never be read, and how.
struct damage {
  std::string field, what;
  bool unreadable;
  std::function<rpc::message(rpc::message, const std::vector<std::size_t>& begins)> apply;
};

inline std::vector<damage> damage_to_field(const std::string& name, std::size_t i) {
  return {{name, "the message ends before it", true,
           [i](rpc::message m, const auto& begins) {
             m.control.resize(begins[i]);
             return m;
           }},
          {name, "nonsense from here on", false,
           [i](rpc::message m, const auto& begins) {
             m.control.resize(begins[i]);
             m.control.append(64, '\xee');
             return m;
           }},
          {name, "all bits set", false, [i](rpc::message m, const auto& begins) {
             const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : m.control.size();
             std::fill(m.control.begin() + static_cast<std::ptrdiff_t>(begins[i]),
                       m.control.begin() + static_cast<std::ptrdiff_t>(end), '\xff');
             return m;
           }}};
}
inline std::vector<damage> damage_to_whole(bool has_payload) {
  std::vector<damage> all{{"", "a byte behind the last field", true, [](rpc::message m, const auto&) {
                             m.control.push_back('\0');
                             return m;
                           }}};
  all.push_back({"", "a payload that no field is of", true, [](rpc::message m, const auto&) {
                   const auto more = std::make_shared<const std::string>("more");
                   m.parts.push_back({reinterpret_cast<const std::byte*>(more->data()), more->size(), more});
                   return m;
                 }});
  if (has_payload)
    all.push_back({"", "a payload that is a byte shorter than its shapes say", true, [](rpc::message m, const auto&) {
                     --m.parts.back().bytes;
                     return m;
                   }});
  return all;
}

// All that is done to messages of a type, field by field.
template <class M>
std::vector<damage> damage_to(bool has_payload) {
  std::vector<damage> all;
  const auto names = names_of(M::fields);
  for (std::size_t i = 0; i < names.size(); ++i)
    for (damage& d : damage_to_field(names[i], i)) all.push_back(std::move(d));
  for (damage& d : damage_to_whole(has_payload)) all.push_back(std::move(d));
  return all;
}

template <class M>
rpc::message damaged(M value, const damage& by) {
  spelling s;
  value.serialize(s);
  return by.apply({std::move(s.to.control), std::move(s.to.parts)}, s.begins);
}

}  // namespace anatomy
