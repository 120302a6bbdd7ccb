// A protobuf message as fields by number, decoded without the library that encodes: for tests of what is written.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

struct wire_message {
  // A number as it stands on the wire, or bytes.
  struct field {
    int type = 0;
    std::uint64_t bits = 0;
    std::string bytes;
  };
  std::map<int, std::vector<field>> fields;

  wire_message() = default;
  explicit wire_message(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::uint64_t key = varint(bytes);
      field f{static_cast<int>(key & 7), 0, {}};
      if (f.type == 0)
        f.bits = varint(bytes);
      else if (f.type == 1)
        std::memcpy(&f.bits, take(bytes, 8).data(), 8);
      else if (f.type == 5)
        std::memcpy(&f.bits, take(bytes, 4).data(), 4);
      else if (f.type == 2)
        f.bytes = take(bytes, varint(bytes));
      else
        throw std::runtime_error("no wire type " + std::to_string(f.type));
      fields[static_cast<int>(key >> 3)].push_back(std::move(f));
    }
  }

  std::size_t count(int number) const { return fields.contains(number) ? fields.at(number).size() : 0; }
  bool has(int number) const { return count(number) > 0; }
  const field& at(int number, std::size_t i = 0) const {
    if (i >= count(number)) throw std::runtime_error("no field " + std::to_string(number));
    return fields.at(number)[i];
  }
  // 0 and "" where they are not there, as in proto3.
  std::int64_t integer(int number, std::size_t i = 0) const {
    return has(number) ? static_cast<std::int64_t>(at(number, i).bits) : 0;
  }
  std::string text(int number, std::size_t i = 0) const { return has(number) ? at(number, i).bytes : ""; }
  double real(int number) const { return has(number) ? bits_as<double>(at(number).bits) : 0; }
  float single(int number) const { return has(number) ? bits_as<float>(at(number).bits) : 0; }
  wire_message sub(int number, std::size_t i = 0) const { return wire_message(at(number, i).bytes); }
  std::vector<double> doubles(int number) const {
    std::vector<double> all(text(number).size() / 8);
    std::memcpy(all.data(), text(number).data(), all.size() * 8);
    return all;
  }

 private:
  template <class T>
  static T bits_as(std::uint64_t bits) {
    T x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
  static std::string take(std::string_view& from, std::uint64_t n) {
    if (n > from.size()) throw std::runtime_error("a message is cut off");
    const std::string taken(from.substr(0, n));
    from.remove_prefix(n);
    return taken;
  }
  static std::uint64_t varint(std::string_view& from) {
    std::uint64_t x = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto b = static_cast<unsigned char>(take(from, 1)[0]);
      x |= std::uint64_t{b & 0x7fu} << shift;
      if (b < 0x80) return x;
    }
    throw std::runtime_error("a varint without an end");
  }
};
