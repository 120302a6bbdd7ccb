// Bodies of <pinion/distributed/server/kept_file.hpp>.
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <pinion/base/outcome.hpp>
#include <pinion/base/utf8.hpp>
#include <pinion/distributed/server/kept_file.hpp>
#include <pinion/distributed/wire/values.hpp>
#include <pinion/files/booleans.hpp>
#include <pinion/files/safetensors_writer.hpp>
#include <pinion/rpc/message.hpp>

namespace pinion { inline namespace v0 { namespace distributed { namespace detail {

inline constexpr const char *note_of_device = "pinion.device:", *note_of_shape = "pinion.shape:",
                            *name_of_others = "pinion.others.";

// A variable with a container is CONTAINER:NAME.
inline std::string name_in_file(const kept_variable& v) {
  return v.container.empty() ? v.name : v.container + ":" + v.name;
}
inline std::pair<std::string, std::string> names_of(const std::string& in_file) {
  const auto colon = in_file.find(':');
  if (colon == in_file.npos) return {"", in_file};
  return {in_file.substr(0, colon), in_file.substr(colon + 1)};
}

// True for a text that stands in the header as it is.
inline bool stays_as_it_is(std::string_view text) {
  const auto is_plain = [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f && c != ':' && c != '"' && c != '\\';
  };
  return std::all_of(text.begin(), text.end(), is_plain) && is_utf8(text);
}
inline bool is_ordinary(const kept_variable& v) {
  const bool is_reserved = v.container.empty() && (v.name == "__metadata__" || v.name.starts_with(name_of_others));
  const bool is_of_text = v.value.dtype() == dtype::string;  // for which the format has no type
  return !v.name.empty() && !is_reserved && !is_of_text && stays_as_it_is(v.container) && stays_as_it_is(v.name);
}

// The extents that a variable was declared with: "-1 10", or "any".
inline std::string text_of_declared(const shape& s) {
  if (s.rank() < 0) return "any";
  return fmt::format("{}", fmt::join(s.dims(), " "));
}
inline shape declared_in(const std::string& text, const std::string& file) {
  if (text == "any") return shape::any();
  shape s;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    std::int64_t extent = 0;
    const auto read = std::from_chars(text.data() + at, text.data() + end, extent);
    if (read.ec != std::errc() || read.ptr != text.data() + end || extent < unknown || s.rank() == shape::max_rank)
      throw error(errc::data_loss, file + " has a note of a shape '" + text + "'");
    s.push_back(extent);
    at = end + 1;
  }
  return s;
}

// At most that many bytes of the header, which has a tensor's name four times: beside its place, its checksum, its
// device and its declared shape.
inline std::size_t bytes_in_header(const kept_variable& v) {
  constexpr std::size_t words = 512;  // the names of notes, punctuation, and numbers of at most 20 digits
  return 4 * name_in_file(v).size() + v.device.size() + words;
}

template <std::unsigned_integral Number>
void append_number(std::string& to, Number n) {
  to.append(reinterpret_cast<const char*>(&n), sizeof n);
}

// The variables that share one tensor of bytes. Each is a head, and its elements behind that; a text stands behind its
// length.
class bytes_of_variables {
 public:
  // Requires: the variable outlives this.
  void add(const kept_variable& v) {
    all_.push_back(&v);
    size_ += static_cast<std::int64_t>(head_of(v).size());
    if (v.value.dtype() != dtype::string) {
      size_ += static_cast<std::int64_t>(v.value.bytes());
      return;
    }
    for (const std::string& text : texts_of(v)) size_ += static_cast<std::int64_t>(sizeof(std::uint64_t) + text.size());
  }
  std::int64_t size() const { return size_; }
  // Yields the bytes, of which no copy is made but of heads.
  void yield(const files::safetensors_writer::take_bytes& take) const {
    for (const kept_variable* v : all_) {
      const std::string head = head_of(*v);
      take(head.data(), head.size());
      if (v->value.dtype() != dtype::string) {
        take(v->value.raw(), v->value.bytes());
        continue;
      }
      for (const std::string& text : texts_of(*v)) {
        const std::uint64_t size = text.size();
        take(&size, sizeof size);
        take(text.data(), text.size());
      }
    }
  }

 private:
  static std::span<const std::string> texts_of(const kept_variable& v) {
    return {v.value.data<std::string>(), static_cast<std::size_t>(v.value.count())};
  }
  static std::string head_of(const kept_variable& v) {
    rpc::writer head;
    head(v.container, v.name, v.device, v.declared, v.value.dtype(), v.value.shape());
    std::string all;
    append_number(all, static_cast<std::uint32_t>(head.control.size()));
    return all += head.control;
  }

  std::int64_t size_ = 0;
  std::vector<const kept_variable*> all_;
};

// What is to be written. It refers to the variables.
class kept_contents {
 public:
  kept_contents(const std::string& task, const std::vector<kept_variable>& all) {
    options_.metadata = {{"pinion.task", task}};
    options_.is_private = true;
    for (const kept_variable& v : all) is_ordinary(v) && has_room(v) ? add_by_name(v) : add_to_others(v);
  }
  void write(const std::filesystem::path& file) const {
    std::vector<files::tensor_outline> outlines;
    for (const auto& [name, value] : by_name_) outlines.push_back({name, value.dtype(), value.shape()});
    for (std::size_t i = 0; i < others_.size(); ++i)
      outlines.push_back({name_of(i), dtype::uint8, {others_[i].size()}});
    files::safetensors_writer out(file, std::move(outlines), options_);
    for (const auto& [name, value] : by_name_) out.write(name, value);
    for (std::size_t i = 0; i < others_.size(); ++i)
      out.write_bytes(name_of(i), [&](const auto& take) { others_[i].yield(take); });
    out.commit();
  }

 private:
  static std::string name_of(std::size_t group) { return name_of_others + std::to_string(group); }

  bool has_room(const kept_variable& v) {
    constexpr std::size_t most = files::longest_safetensors_header / 2;
    const std::size_t more = bytes_in_header(v);
    if (more > most - header_) return false;
    header_ += more;
    return true;
  }
  void add_by_name(const kept_variable& v) {
    const std::string name = name_in_file(v);
    by_name_.emplace(name, v.value);
    options_.metadata.emplace(note_of_device + name, v.device);
    options_.metadata.emplace(note_of_shape + name, text_of_declared(v.declared));
  }
  // A tensor that is large enough is followed by another, so that its reader needs little memory.
  void add_to_others(const kept_variable& v) {
    constexpr std::int64_t enough = std::int64_t{64} << 20;
    if (others_.empty() || others_.back().size() >= enough) others_.emplace_back();
    others_.back().add(v);
  }

  std::map<std::string, any_tensor> by_name_;
  std::vector<bytes_of_variables> others_;
  files::safetensors_options options_;
  std::size_t header_ = 0;
};

// Takes elements off the front of some bytes.
inline any_tensor take_elements(rpc::reader& from, dtype type, const shape& extent) {
  const auto count = static_cast<std::uint64_t>(extent.count());
  if (type == dtype::string) {
    if (count > from.left() / sizeof(std::uint64_t)) rpc::reader::refuse("it ends within its texts");
    any_tensor texts(type, extent);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t size = 0;
      from(size);
      texts.data<std::string>()[i] = from.take(size);
    }
    return texts;
  }
  if (!dtypes::plain.has(type)) rpc::reader::refuse("it has a value of a type that is not known");
  const std::string_view elements = from.take(count * size_of(type));
  any_tensor value(type, extent);
  if (!elements.empty()) std::memcpy(value.raw(), elements.data(), elements.size());
  return value;
}

// Reads one variable of those in a tensor of bytes, and takes it off their front.
inline kept_variable take_variable(std::string_view& bytes) {
  rpc::reader whole(bytes, 0);
  std::uint32_t size = 0;
  whole(size);
  rpc::reader head(whole.take(size), 0);
  kept_variable v;
  dtype type{};
  shape extent;
  head(v.container, v.name, v.device, v.declared, type, extent);
  head.finish();
  if (!extent.known() || !countable(extent)) rpc::reader::refuse("it has a value of " + to_string(extent));
  v.value = take_elements(whole, type, extent);
  bytes = bytes.substr(bytes.size() - whole.left());
  return v;
}

}}}}  // namespace pinion::v0::distributed::detail

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void write_kept_file(const std::filesystem::path& file, const std::string& task,
                                 const std::vector<kept_variable>& all) {
  detail::kept_contents(task, all).write(file);
}

PINION_DECL void kept_file::for_each(const std::function<void(kept_variable)>& f) const {
  for (const files::stored_tensor& t : in_.tensors())
    if (t.name.starts_with(detail::name_of_others) && t.name.find(':') == t.name.npos)
      read_others(t, f);
    else
      f(read(t));
}

PINION_DECL std::string kept_file::note(const std::string& name) const {
  const auto at = in_.metadata().find(name);
  return at == in_.metadata().end() ? std::string() : at->second;
}

PINION_DECL kept_variable kept_file::read(const files::stored_tensor& t) const {
  const auto [container, name] = detail::names_of(t.name);
  return {container, name, note(detail::note_of_device + t.name),
          detail::declared_in(note(detail::note_of_shape + t.name), path_), in_.read(t.name)};
}

PINION_DECL void kept_file::read_others(const files::stored_tensor& t,
                                        const std::function<void(kept_variable)>& f) const {
  const any_tensor all = in_.read(t.name);
  std::string_view left(static_cast<const char*>(all.raw()), all.bytes());
  const std::string what = "tensor '" + t.name + "' in " + path_;
  while (!left.empty()) {
    auto next = outcome_of([&] { return detail::take_variable(left); });
    if (!next) throw error(errc::data_loss, what + " is damaged: " + next.failure()->sentence());
    files::check_booleans(next.value().value, what);
    f(std::move(next).value());
  }
}

}}}  // namespace pinion::v0::distributed
