// Messages as inputs: the size of the control part in four bytes, the control part, and the payload.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <pinion/rpc/message.hpp>

namespace fuzz {

using namespace pinion;

struct letter {
  std::string_view control, payload;
};

inline std::string input_of(const rpc::message& m) {
  const auto size = static_cast<std::uint32_t>(m.control.size());
  std::string input(reinterpret_cast<const char*>(&size), sizeof size);
  input += m.control;
  for (const rpc::part& p : m.parts) input.append(reinterpret_cast<const char*>(p.data), p.bytes);
  return input;
}

// The parts of an input; a control part that is said to be longer than the input is all of it.
inline letter letter_of(std::string_view input) {
  std::uint32_t size = 0;
  if (input.size() < sizeof size) return {input, {}};
  std::memcpy(&size, input.data(), sizeof size);
  input.remove_prefix(sizeof size);
  return {input.substr(0, size), input.substr(std::min<std::size_t>(size, input.size()))};
}

// Reads a message and puts the payload where the message wants it, as a receiver does.
template <class M>
M opened(const letter& l) {
  M message{};
  rpc::reader in(l.control, l.payload.size());
  rpc::read_all(in, message);
  std::size_t at = 0;
  for (const auto& room : in.rooms.all()) {
    std::memcpy(room.data(), l.payload.data() + at, room.size());
    at += room.size();
  }
  in.rooms.check();
  return message;
}

}  // namespace fuzz
