// NumPy's .npy files: one array in each.
//
//   pn::tensor<float> w{pn::files::read_npy("w.npy")};
//   pn::files::write_npy("w2.npy", w.untyped());
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

// The fields of the header, before they are checked.
struct npy_header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<shape> extent;
};

// Parses the header, a dict literal of Python, as far as it may occur: the three keys, a text, a boolean and a tuple of
// numbers.
class npy_header_parser {
 public:
  npy_header_parser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  // Parses the header. Throws data_loss if it is not such a dict, and unimplemented for records and for more than 8
  // dimensions.
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

// The stored element of a text such as "<f4" or "|u1". Throws unimplemented if pinion has no such elements.
stored_element parse_descr(const std::string& descr, const std::string& file);

// Puts elements that are stored column-major into row-major order.
std::vector<std::byte> to_row_major(const std::vector<std::byte>& from, const shape& extent, std::size_t element);

// The text for a dtype, such as "<f4"; "" if NumPy has no such elements.
constexpr std::string_view descr_of(dtype type) {
  constexpr std::string_view names[] = {"", "<f4", "<f8", "<i4", "<i8", "|u1", "|b1", "",
                                        "", "<f2", "|i1", "<i2", "<u2", "<u4", "<u8"};
  return names[static_cast<unsigned>(type)];
}

}  // namespace detail

// Reads the array of a file of version 1 to 3, in either byte order and either order of axes. Its elements keep their
// dtype, float16 as half; pn::converted makes another one. Bytes behind the array are ignored, as NumPy ignores them.
// Errors: not_found, there is no such file; data_loss, it is damaged, cut short or no .npy file; unimplemented, it
// holds records, texts, objects or complex numbers, or has more than 8 dimensions.
//
//   np.save("w.npy", w)                                                    # Python
//   pn::tensor<float> w{pn::files::read_npy("w.npy")};                     // throws where w is no float32
any_tensor read_npy(const file_path& path);

// Writes a file of version 1.0, as np.save does. The file is there whole or not at all (see output_file). Throws
// invalid_argument for a tensor that is not on the host, and for text and bfloat16, which NumPy does not have;
// otherwise errors are those of output_file. Tensors that sessions return are on the host, so any result can be
// written.
void write_npy(const file_path& path, const any_tensor& t);

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/npy.ipp>
#endif
