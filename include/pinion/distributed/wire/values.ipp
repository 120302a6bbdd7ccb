// Bodies of <pinion/distributed/wire/values.hpp>.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include <pinion/base/process.hpp>
#include <pinion/device/cpu.hpp>
#include <pinion/distributed/wire/values.hpp>
#include <pinion/tensor/lent.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Decoded tensors live in the pool of the host's devices.
inline allocator& host_memory() {
  struct host {
    devices::cpu_device device{device_spec{}};
  };
  return of_this_process<host>().device.memory();
}

struct lasting_names {
  std::mutex mutex;
  std::set<std::string, std::less<>> all;
};

PINION_DECL const char* lasting_name(std::string_view name) {
  constexpr std::size_t most = 4096, longest = 1024;
  constexpr const char* placeholder = "(a name too many, or too long)";  // one: a name that was replaced is not again
  auto& names = of_this_process<lasting_names>();
  name = name.substr(0, name.find('\0'));  // the rest would be kept, and never be read
  if (name.size() > longest) return placeholder;
  std::lock_guard hold(names.mutex);
  const auto found = names.all.find(name);
  if (found != names.all.end()) return found->c_str();
  return names.all.size() < most ? names.all.emplace(name).first->c_str() : placeholder;
}

}}}  // namespace pinion::v0::distributed

namespace pinion { inline namespace v0 {

PINION_DECL void save(rpc::writer& a, const dtype& type) {
  rpc::save_choice(a, type);
}

PINION_DECL void load(rpc::reader& a, dtype& type) {
  type = rpc::load_choice(a, static_cast<dtype>(detail::dtype_count - 1), "dtype");
}

PINION_DECL void save(rpc::writer& a, const shape& s) {
  a(static_cast<std::int8_t>(s.rank()));
  for (const std::int64_t extent : s.dims()) a(extent);
}

PINION_DECL void load(rpc::reader& a, shape& s) {
  std::int8_t rank;
  a(rank);
  if (rank < -1 || rank > shape::max_rank)
    rpc::reader::refuse("a message holds a shape of " + std::to_string(rank) + " dimensions");
  s = rank < 0 ? shape::any() : shape{};
  for (int i = 0; i < rank; ++i) {
    std::int64_t extent;
    a(extent);
    if (extent < unknown) rpc::reader::refuse("a message holds a dimension of " + std::to_string(extent));
    s.push_back(extent);
  }
  if (!countable(s))
    rpc::reader::refuse("a message holds the shape " + to_string(s) + ", which has more elements than there can be");
}

}}  // namespace pinion::v0

namespace pinion { inline namespace v0 { namespace detail {

inline std::span<const std::string> texts_of(const any_tensor& t) {
  return {t.data<std::string>(), static_cast<std::size_t>(t.count())};
}
inline std::uint64_t letters_of(const any_tensor& t) {
  std::uint64_t sum = 0;
  for (const std::string& one : texts_of(t)) sum += one.size();
  return sum;
}

inline void save_text(rpc::writer& a, const any_tensor& t) {
  a.put_count(static_cast<std::uint64_t>(t.count()));
  a.expect_room(letters_of(t) + sizeof(std::uint32_t) * static_cast<std::uint64_t>(t.count()));
  for (const std::string& one : texts_of(t)) a(one);
}

inline any_tensor load_text(rpc::reader& a, const shape& extent) {
  const std::size_t count = a.take_count(sizeof(std::uint32_t));  // the size of an empty string
  if (extent.count() != static_cast<std::int64_t>(count))
    rpc::reader::refuse("a tensor of shape " + to_string(extent) + " came with " + std::to_string(count) + " strings");
  a.spend(count * sizeof(std::string));
  any_tensor t(dtype::string, extent);
  for (std::string& one : std::span(t.data<std::string>(), count)) a(one);
  return t;
}

}}}  // namespace pinion::v0::detail

namespace pinion { inline namespace v0 {

PINION_DECL void save(rpc::writer& a, const any_tensor& t) {
  a(!t.empty());
  if (t.empty()) return;
  if (!t.on_host()) throw error(errc::internal, "a tensor was put into a message before it was copied to the host");
  a(t.dtype(), t.shape());
  if (t.dtype() == dtype::string)
    detail::save_text(a, t);
  else
    a.attach(t.raw(), t.bytes(), std::make_shared<const any_tensor>(t));
}

PINION_DECL void load(rpc::reader& a, any_tensor& t) {
  distributed::described_value v;
  load(a, v);
  t = v.make(a.rooms);
}

namespace distributed {

inline constexpr std::uint64_t memory_of_tensor = 256;  // beside its elements
// Their elements may change while kernels read them, and only the result is wrong: none is the position of another, and
// each pattern of bits is an element.
inline constexpr dtype_set may_change = dtypes::floating | dtypes::stored | dtype_set{dtype::uint8};

PINION_DECL void load(rpc::reader& a, value_outline& v) {
  v = {};
  a(v.there);
  if (!v.there) return;
  a(v.dtype, v.shape);
  if (!v.shape.known()) rpc::reader::refuse("a message holds a tensor of shape " + to_string(v.shape));
}

PINION_DECL std::uint64_t weight_of(const any_tensor& value) {
  if (value.empty()) return 0;
  return value.bytes() + (value.dtype() == dtype::string ? pinion::detail::letters_of(value) : 0);
}

PINION_DECL std::uint64_t weight_of(const value_outline& value, const rpc::reader& behind) {
  if (!value.there || value.dtype != dtype::string) return value.bytes();
  const auto sizes =
      sizeof(std::uint32_t) * (1 + static_cast<std::uint64_t>(value.shape.count()));  // before the letters
  return value.bytes() + behind.left() - std::min<std::uint64_t>(behind.left(), sizes);
}

PINION_DECL std::uint64_t value_outline::bytes() const {
  return there ? static_cast<std::uint64_t>(shape.count()) * size_of(dtype) : 0;
}

PINION_DECL void load(rpc::reader& a, described_value& v) {
  value_outline outline;
  load(a, outline);
  v = load_rest(a, outline);
}

PINION_DECL described_value load_rest(rpc::reader& a, const value_outline& of) {
  described_value v{of};
  if (!v.there) return v;
  if (v.dtype == dtype::string)
    v.text = pinion::detail::load_text(a, v.shape);
  else if (dtypes::moved.has(v.dtype))
    a.claim(v.bytes()), a.spend(v.bytes() + memory_of_tensor);
  else
    rpc::reader::refuse("a message holds a tensor of " + std::string(to_string(v.dtype)) + ", which is not sent");
  return v;
}

PINION_DECL any_tensor described_value::make(rpc::payload_rooms& rooms) {
  if (!there || dtype == pinion::dtype::string) return std::move(text);
  if (may_change.has(dtype))
    if (auto lent = rooms.borrow(bytes())) return {dtype, shape, make_lent_buffer(std::move(lent), bytes())};
  any_tensor t(dtype, shape, host_memory());
  if (t.bytes() == 0) return t;
  const std::span<std::byte> room{t.byte_data(), t.bytes()};
  dtype == pinion::dtype::boolean ? rooms.add_booleans(room) : rooms.add(room);
  return t;
}

}  // namespace distributed

PINION_DECL void save(rpc::writer& a, const device_spec& spec) {
  a(to_string(spec));
}

PINION_DECL void load(rpc::reader& a, device_spec& spec) {
  std::string text;
  a(text);
  spec = parse_device(text);
}

PINION_DECL void save(rpc::writer& a, const source_location& where) {
  a(std::string(where.file), where.line);
}

PINION_DECL void load(rpc::reader& a, source_location& where) {
  std::string file;
  a(file, where.line);
  where.file = distributed::lasting_name(file);
}

}}  // namespace pinion::v0
