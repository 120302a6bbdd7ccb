// NumPy's .npy files: one array each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/file_path.hpp>
#include <pinion/files/elements.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace files {

namespace detail {

// What the header says, before it is believed.
struct npy_header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<shape> extent;
};

// Reads the header's dict literal of Python: just the three keys, a text, a boolean and a tuple of numbers.
class npy_header_parser {
 public:
  npy_header_parser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  npy_header parse();

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  void skip_space();
  bool take(char c);
  void expect(char c);
  std::string quoted();
  std::string descr();
  bool boolean();
  std::int64_t number();
  shape tuple();

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
};

// "<f4", "|u1", ...
stored_element parse_descr(const std::string& descr, const std::string& file);

// Column-major elements under their shape, row-major.
std::vector<std::byte> to_row_major(const std::vector<std::byte>& from, const shape& extent, std::size_t element);

// "<f4" of a dtype; "" for what NumPy has no name for.
constexpr std::string_view descr_of(dtype type) {
  constexpr std::string_view names[] = {"", "<f4", "<f8", "<i4", "<i8", "|u1", "|b1", "", "", "<f2"};
  return names[static_cast<unsigned>(type)];
}

}  // namespace detail

// Versions 1 to 3, either byte order, either order of axes; integers that pinion has no dtype for are widened (see
// decode_elements). Bytes after the array are passed over, as NumPy does. Errors: no such file not_found; a file that
// is damaged or cut short data_loss; records, texts, objects and complex numbers unimplemented.
any_tensor read_npy(const file_path& path);

// Version 1.0, as np.save writes it; appears whole or not at all (see output_file). Text and bfloat16, which NumPy has
// not, are invalid_argument.
void write_npy(const file_path& path, const any_tensor& t);

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/npy.ipp>
#endif
