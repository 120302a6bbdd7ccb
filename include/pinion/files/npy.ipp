// Bodies of <pinion/files/npy.hpp>.
#pragma once

#include <pinion/files/input_file.hpp>
#include <pinion/files/npy.hpp>
#include <pinion/files/output_file.hpp>

namespace pinion { inline namespace v0 { namespace files { namespace detail {

PINION_DECL npy_header npy_header_parser::parse() {
  npy_header h;
  expect('{');
  while (!take('}')) {
    const std::string key = quoted();
    expect(':');
    if (key == "descr" && !h.descr)
      h.descr = descr();
    else if (key == "fortran_order" && !h.fortran_order)
      h.fortran_order = boolean();
    else if (key == "shape" && !h.extent)
      h.extent = tuple();
    else
      refuse("has a key '" + key + "' too many in its header");
    if (!take(',')) {
      expect('}');
      break;
    }
  }
  skip_space();
  if (at_ != text_.size()) refuse("has a header with something after its end");
  if (!h.descr || !h.fortran_order || !h.extent) refuse("has a header without descr, fortran_order and shape");
  return h;
}

PINION_DECL void npy_header_parser::refuse(const std::string& why) const {
  throw error(errc::data_loss, file_ + " " + why);
}

PINION_DECL void npy_header_parser::skip_space() {
  while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
}

PINION_DECL bool npy_header_parser::take(char c) {
  skip_space();
  if (at_ == text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

PINION_DECL void npy_header_parser::expect(char c) {
  if (!take(c))
    refuse(std::string("has a header that is no dict of Python: no '") + c + "' at byte " + std::to_string(at_) +
           " of it");
}

PINION_DECL std::string npy_header_parser::quoted() {
  skip_space();
  const char quote = at_ < text_.size() ? text_[at_] : '\0';
  const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
  if (end == std::string_view::npos)
    refuse("has a header without the text that should be at byte " + std::to_string(at_) + " of it");
  std::string result(text_.substr(at_ + 1, end - at_ - 1));
  at_ = end + 1;
  return result;
}

PINION_DECL std::string npy_header_parser::descr() {
  if (take('[')) throw error(errc::unimplemented, file_ + " holds records; pinion reads arrays of plain numbers");
  return quoted();
}

PINION_DECL bool npy_header_parser::boolean() {
  skip_space();
  for (const bool value : {true, false}) {
    const std::string_view word = value ? "True" : "False";
    if (text_.substr(at_, word.size()) != word) continue;
    at_ += word.size();
    return value;
  }
  refuse("has a fortran_order that is neither True nor False");
}

PINION_DECL std::int64_t npy_header_parser::number() {
  skip_space();
  constexpr std::int64_t most = std::int64_t{1} << 56;
  std::int64_t n = 0;
  const std::size_t first = at_;
  for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
    n = n * 10 + (text_[at_] - '0');
    if (n > most) refuse("has a dimension that nothing holds");
  }
  if (at_ == first) refuse("has a shape that is no tuple of numbers");
  return n;
}

PINION_DECL shape npy_header_parser::tuple() {  // "(2)" is a number in Python, not a tuple
  shape s;
  expect('(');
  while (!take(')')) {
    if (s.rank() == shape::max_rank)
      throw error(errc::unimplemented, file_ + " has more than 8 dimensions, which is what a tensor of pinion has");
    s.push_back(number());
    if (take(',')) continue;
    if (s.rank() == 1) refuse("has a shape that is no tuple");
    expect(')');
    break;
  }
  return s;
}

PINION_DECL stored_element parse_descr(const std::string& descr, const std::string& file) {
  using kind = stored_element::kind;
  const auto refuse = [&] {
    throw error(errc::unimplemented, file + " holds elements of '" + descr +
                                         "'; pinion reads booleans, integers and floats (convert it with astype)");
  };
  if (descr.size() != 3) refuse();
  stored_element e;
  e.bytes = static_cast<std::size_t>(descr[2] - '0');
  e.big_endian = descr[0] == '>';
  switch (descr[1]) {
    case 'b': e.what = kind::boolean; break;
    case 'i': e.what = kind::signed_integer; break;
    case 'u': e.what = kind::unsigned_integer; break;
    case 'f': e.what = kind::floating; break;
    default: refuse();
  }
  const bool size = e.bytes == 1 || e.bytes == 2 || e.bytes == 4 || e.bytes == 8;
  const bool order = descr[0] == '<' || descr[0] == '>' || (descr[0] == '|' && e.bytes == 1);
  if (!size || !order || dtype_for(e) == dtype::invalid) refuse();
  return e;
}

PINION_DECL std::vector<std::byte> to_row_major(const std::vector<std::byte>& from, const shape& extent,
                                                std::size_t element) {
  std::vector<std::byte> to(from.size());
  std::int64_t index[shape::max_rank]{};
  for (std::size_t i = 0; i * element < from.size(); ++i) {
    std::size_t place = 0;
    for (int axis = extent.rank() - 1; axis >= 0; --axis)
      place = place * static_cast<std::size_t>(extent[axis]) + static_cast<std::size_t>(index[axis]);
    std::memcpy(to.data() + i * element, from.data() + place * element, element);
    for (int axis = extent.rank() - 1; axis >= 0 && ++index[axis] == extent[axis]; --axis) index[axis] = 0;
  }
  return to;
}

}}}}  // namespace pinion::v0::files::detail

namespace pinion { inline namespace v0 { namespace files {

PINION_DECL any_tensor read_npy(const file_path& path) {
  const input_file file(path);
  const std::string& name = path.text();
  const auto refuse = [&](const std::string& why) { throw error(errc::data_loss, name + " " + why); };
  unsigned char start[12]{};
  const std::size_t got = file.read_some(0, start, 12);
  if (got < 10 || std::memcmp(start, "\x93NUMPY", 6) != 0) refuse("is no .npy file");
  if (start[6] < 1 || start[6] > 3) refuse("is of version " + std::to_string(start[6]) + " of .npy; known are 1 to 3");
  const std::size_t before = start[6] == 1 ? 10 : 12;
  std::uint64_t length = start[8] | std::uint64_t{start[9]} << 8;
  if (before == 12) length |= std::uint64_t{start[10]} << 16 | std::uint64_t{start[11]} << 24;
  if (length > 10'000) refuse("has a header of " + std::to_string(length) + " bytes, where NumPy reads 10000 at most");
  if (file.size() < before + length) refuse("is cut short within its header");
  std::string text(static_cast<std::size_t>(length), ' ');
  file.read(before, text.data(), text.size());
  const detail::npy_header h = detail::npy_header_parser(text, name).parse();
  const stored_element element = detail::parse_descr(*h.descr, name);

  const std::uint64_t there = file.size() - before - length;
  if (!countable(*h.extent) || static_cast<std::uint64_t>(h.extent->count()) > there / element.bytes)
    refuse("is cut short: " + std::to_string(there) + " bytes do not hold the shape " + to_string(*h.extent));
  std::vector<std::byte> bytes(static_cast<std::size_t>(h.extent->count()) * element.bytes);
  file.read(before + length, bytes.data(), bytes.size());
  if (*h.fortran_order) bytes = detail::to_row_major(bytes, *h.extent, element.bytes);
  return decode_elements(element, *h.extent, bytes.data(), name);
}

PINION_DECL void write_npy(const file_path& path, const any_tensor& t) {
  const std::string_view descr = detail::descr_of(t.dtype());
  if (t.empty() || !t.on_host()) throw error(errc::invalid_argument, "no tensor on the host for " + path.text());
  if (descr.empty())
    throw error(errc::invalid_argument,
                path.text() + " cannot hold elements of " + std::string(to_string(t.dtype())) + "; cast them first");
  std::string header = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < t.shape().rank(); ++i) header += (i ? ", " : "") + std::to_string(t.shape()[i]);
  header += t.shape().rank() == 1 ? ",), }" : "), }";
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  const char start[10] = {'\x93',
                          'N',
                          'U',
                          'M',
                          'P',
                          'Y',
                          1,
                          0,
                          static_cast<char>(header.size() & 255),
                          static_cast<char>(header.size() >> 8)};
  output_file file(path);
  file.write(start, sizeof start);
  file.write(header.data(), header.size());
  file.write(t.raw(), t.bytes());
  file.commit();
}

}}}  // namespace pinion::v0::files
