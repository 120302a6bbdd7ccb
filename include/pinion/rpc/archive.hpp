// Cereal archives over flat memory: small values in a control part, tensors beside it as raw bytes.
//
// Invariants
//   1. Nothing is read or allocated that the bytes at hand do not justify: every length is checked first.
//   2. Reading any message either succeeds or throws error(data_loss).
//   3. Attached bytes are written in the order in which they are claimed; rooms are in that order, and fill the
//      payload.
//   4. Nothing is built that is larger than any message may be: a writer has the limits of a frame.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <cereal/cereal.hpp>

#include <pinion/base/config.hpp>
#include <pinion/rpc/frame.hpp>

namespace pinion { inline namespace v0 { namespace rpc {
class writer;
class reader;
}}}  // namespace pinion::v0::rpc
CEREAL_SETUP_ARCHIVE_TRAITS(pinion::rpc::reader, pinion::rpc::writer)

namespace pinion { inline namespace v0 { namespace rpc {

static_assert(std::endian::native == std::endian::little, "what goes over the wire is little-endian");

// Bytes that follow the control part. The owner keeps them in place until they are sent.
struct part {
  const std::byte* data;
  std::size_t bytes;
  std::shared_ptr<const void> owner;
};

// Appends values to a control part, and collects the bytes that follow it. Throws resource_exhausted, before it takes
// memory, where either would be larger than a message may be. Not thread-safe.
class writer : public cereal::OutputArchive<writer, cereal::AllowEmptyClassElision> {
 public:
  writer() : OutputArchive(this) {}

  std::string control;
  std::vector<part> parts;

  void put(const void* data, std::size_t bytes) {
    expect_room(bytes);
    control.append(static_cast<const char*>(data), bytes);
  }
  // Throws where so many bytes more cannot be put.
  void expect_room(std::uint64_t bytes) const {
    if (bytes > limits{}.control - control.size()) refuse_more("control", limits{}.control);
  }
  void put_count(std::uint64_t count);
  // Adds bytes to the payload without a copy; `owner` keeps them alive.
  void attach(const void* data, std::size_t bytes, std::shared_ptr<const void> owner);
  std::uint64_t payload_bytes() const { return attached_; }

 private:
  [[noreturn]] static void refuse_more(const char* part, std::uint64_t most);
  std::uint64_t attached_ = 0;
};

// Memory for the payload of a message, in the order of its bytes. It does not own that memory. Not thread-safe.
class payload_rooms {
 public:
  payload_rooms() = default;
  // The payload is there already, in memory that the peer has lent; null: it is to come.
  explicit payload_rooms(std::shared_ptr<std::byte> lent) : lent_(std::move(lent)) {}

  void add(std::span<std::byte> room);
  // Adds the memory in which the next bytes are, so that nobody copies them; but the peer may change them at any time.
  // Null where they are not there, or are not aligned to 64 bytes, or not worth that the rest stays with them.
  std::shared_ptr<std::byte> borrow(std::uint64_t bytes);
  // Adds memory for booleans, whose bytes are 0 or 1.
  void add_booleans(std::span<std::byte> room);
  std::span<const std::span<std::byte>> all() const { return all_; }
  // Checks the booleans, once the payload has come. Throws data_loss for another byte, which no kernel may see.
  void check() const;

 private:
  std::vector<std::span<std::byte>> all_, booleans_;
  std::shared_ptr<std::byte> lent_;  // its beginning
  std::uint64_t bytes_ = 0;          // of all rooms
};

// Reads what a writer wrote, and trusts none of it. Refers to the control part, which must outlive it. Not thread-safe.
// Throws error(data_loss) for a malformed message, and error(resource_exhausted) for one that takes more memory than it
// is allowed.
class reader : public cereal::InputArchive<reader, cereal::AllowEmptyClassElision> {
 public:
  reader(std::string_view control, std::uint64_t payload_bytes, std::shared_ptr<std::byte> lent = nullptr)
      : InputArchive(this), rooms(std::move(lent)), control_(control), payload_left_(payload_bytes) {}

  payload_rooms rooms;  // the memory into which the payload is read

  std::size_t left() const { return control_.size(); }
  std::string_view take(std::size_t bytes);
  // Reads a number of elements, each of which takes at least `least_bytes`.
  std::size_t take_count(std::size_t least_bytes = 1);

  // Reserves payload bytes. Call it before the memory for them is allocated.
  void claim(std::uint64_t bytes);

  // Counts memory that what is read takes: an estimate, since it depends on the types in which it is kept.
  void spend(std::uint64_t bytes) {
    spent_ += bytes;
    if (spent_ > allowed_) refuse_memory();
  }
  std::uint64_t spent() const { return spent_; }
  void allow(std::uint64_t bytes) { allowed_ = bytes; }

  // Throws unless everything was read. Call it last.
  void finish() const;

  [[noreturn]] static void refuse(std::string sentence);

 private:
  friend struct deeper;
  [[noreturn]] void refuse_memory() const;
  std::string_view control_;
  std::uint64_t payload_left_, spent_ = 0, allowed_ = ~std::uint64_t{0};
  int depth_ = 0;
};

// Counts one level of a recursive type while it exists, so that a message cannot exhaust the stack.
struct [[nodiscard]] deeper {
  static constexpr int limit = 16;

  explicit deeper(reader& a);
  deeper(const deeper&) = delete;
  deeper& operator=(const deeper&) = delete;
  ~deeper() { --of.depth_; }

  reader& of;
};

// The overloads below are those that Cereal looks up, restricted to these archives. They rank above Cereal's own for
// the same types, so that a source file may include both.

// Numbers are written in their own width; a bool is 0 or 1. Enumerations are written as their numbers, by Cereal's own
// rule.
template <class T>
requires std::is_arithmetic_v<T>
void save(writer& a, const T& value) {
  a.put(&value, sizeof value);
}
template <class T>
requires std::is_arithmetic_v<T>
void load(reader& a, T& value) {
  const std::string_view bytes = a.take(sizeof value);
  if constexpr (std::same_as<T, bool>) {
    if (bytes[0] != 0 && bytes[0] != 1)
      reader::refuse("a message holds a bool of " + std::to_string(static_cast<unsigned char>(bytes[0])));
    value = bytes[0] == 1;
  } else {
    std::memcpy(&value, bytes.data(), sizeof value);
  }
}

// Writes and reads a value of an enumeration as a byte. A byte beyond `last` is refused.
template <class E>
void save_choice(writer& a, E value) {
  a(static_cast<std::uint8_t>(value));
}
template <class E>
E load_choice(reader& a, E last, std::string_view what) {
  std::uint8_t number;
  a(number);
  if (number > static_cast<std::uint8_t>(last))
    reader::refuse("a message holds " + std::string(what) + " number " + std::to_string(number) +
                   ", which is not known here");
  return static_cast<E>(number);
}

// The two in one, for functions that write and read alike.
template <class E>
void choice(writer& a, E value, E, std::string_view) {
  save_choice(a, value);
}
template <class E>
void choice(reader& a, E& value, E last, std::string_view what) {
  value = load_choice(a, last, what);
}

// Counts and names, in the form that Cereal's containers and CEREAL_NVP use.
template <class T>
void save(writer& a, const cereal::SizeTag<T>& tag) {
  a.put_count(tag.size);
}
template <class T>
void load(reader& a, cereal::SizeTag<T>& tag) {
  tag.size = a.take_count();
}
template <class T>
void serialize(writer& a, cereal::NameValuePair<T>& named) {
  a(named.value);
}
template <class T>
void serialize(reader& a, cereal::NameValuePair<T>& named) {
  a(named.value);
}

void save(writer& a, const std::string& text);
inline void load(reader& a, std::string& text) {
  text = a.take(a.take_count());
  a.spend(text.size());
}

// A text that is a name. A longer one than `longest` bytes is not read.
struct short_text {
  static constexpr std::size_t longest = std::size_t{64} << 10;
  std::string& text;
};
inline void save(writer& a, const short_text& name) {
  save(a, name.text);
}
void load(reader& a, short_text& name);

// An element is made when its bytes are read, so a false count reserves no more memory than there are bytes.
template <class T, class Allocator>
void save(writer& a, const std::vector<T, Allocator>& all) {
  a.put_count(all.size());
  if constexpr (std::is_arithmetic_v<T>)
    a.put(all.data(), all.size() * sizeof(T));
  else
    for (const T& one : all) a(one);
}
template <class T, class Allocator>
void load(reader& a, std::vector<T, Allocator>& all) {
  all.clear();
  if constexpr (std::is_arithmetic_v<T>) {
    const std::size_t count = a.take_count(sizeof(T));
    a.spend(count * sizeof(T));
    all.resize(count);
    if (count > 0) std::memcpy(all.data(), a.take(count * sizeof(T)).data(), count * sizeof(T));
  } else {
    const std::size_t count = a.take_count();
    all.reserve(std::min(count, a.left() / sizeof(T)));
    for (std::size_t i = 0; i < count; ++i) {
      a.spend(sizeof(T));
      a(all.emplace_back());
    }
  }
}
template <class Allocator>
void save(writer& a, const std::vector<bool, Allocator>& all) {
  a.put_count(all.size());
  for (const bool one : all) a(one);
}
template <class Allocator>
void load(reader& a, std::vector<bool, Allocator>& all) {
  all.clear();
  for (std::size_t left = a.take_count(); left > 0; --left) {
    bool one;
    a(one);
    all.push_back(one);
  }
}

template <class A, class B>
void serialize(writer& a, std::pair<A, B>& both) {
  a(both.first, both.second);
}
template <class A, class B>
void serialize(reader& a, std::pair<A, B>& both) {
  a(both.first, both.second);
}

template <class T>
void save(writer& a, const std::optional<T>& maybe) {
  a(maybe.has_value());
  if (maybe) a(*maybe);
}
template <class T>
void load(reader& a, std::optional<T>& maybe) {
  bool there;
  a(there);
  maybe.reset();
  if (there) a(maybe.emplace());
}

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/archive.ipp>
#endif
