// The wire form of values: dtypes, shapes, tensors, names of devices and source locations.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/base/source_location.hpp>
#include <pinion/rpc/archive.hpp>
#include <pinion/spec/device_spec.hpp>
#include <pinion/tensor/shape.hpp>
#include <pinion/tensor/tensor.hpp>

CEREAL_SPECIALIZE_FOR_ARCHIVE(pinion::rpc::writer, pinion::dtype, cereal::specialization::non_member_load_save)
CEREAL_SPECIALIZE_FOR_ARCHIVE(pinion::rpc::reader, pinion::dtype, cereal::specialization::non_member_load_save)

namespace pinion { inline namespace v0 {

namespace distributed {

// Returns a copy of a file name that lives as long as the program, as source_location requires. The table of copies is
// limited, since peers can fill it; beyond the limit one placeholder is returned. Thread-safe.
const char* lasting_name(std::string_view name);

// The beginning of a value on the way: whether there is one, and what it will be. A value.
struct value_outline {
  bool there = false;
  pinion::dtype dtype{};
  pinion::shape shape = {};

  std::uint64_t bytes() const;  // as any_tensor::bytes()
};

// A value on the way, as its message describes it: no memory is taken yet for the bytes that follow the message. A
// value.
struct described_value : value_outline {
  any_tensor text = {};  // the value itself, if it is of strings, which are a part of the description

  // Takes memory for the value, and adds the room for its bytes to `rooms`. Call it once.
  any_tensor make(rpc::payload_rooms& rooms);
};

}  // namespace distributed

void save(rpc::writer& a, const dtype& type);
void load(rpc::reader& a, dtype& type);

void save(rpc::writer& a, const shape& s);
void load(rpc::reader& a, shape& s);

// Layout: whether there is a value, its dtype and shape, then strings, or bytes of the payload. Requires: host memory.
void save(rpc::writer& a, const any_tensor& t);
void load(rpc::reader& a, any_tensor& t);

namespace distributed {
// Read what describes an any_tensor, and what that begins with.
void load(rpc::reader& a, described_value& v);
void load(rpc::reader& a, value_outline& v);
// Reads the rest of what describes a value, behind its beginning.
described_value load_rest(rpc::reader& a, const value_outline& of);

// The bytes that a value counts where bytes are limited: those of its elements, and of texts the letters too.
std::uint64_t weight_of(const any_tensor& value);
// The same of a value that ends its message, of which the beginning was read.
std::uint64_t weight_of(const value_outline& value, const rpc::reader& behind);
}  // namespace distributed

void save(rpc::writer& a, const device_spec& spec);
void load(rpc::reader& a, device_spec& spec);

void save(rpc::writer& a, const source_location& where);
void load(rpc::reader& a, source_location& where);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/values.ipp>
#endif
