// Comma-separated values (RFC 4180): rows of texts, and typed columns of a whole file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/file_path.hpp>
#include <pinion/files/input_file.hpp>
#include <pinion/tensor/take_tuple.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace files {

struct csv_options {
  bool header = false;  // the first row names the columns
  char separator = ',';
  std::vector<std::string> columns{};  // the columns wanted, by name (needs a header), in this order; empty: all
};

// Rows of a file, one after another; holds one piece of it in memory. A field may stand in double quotes, within which
// separators and line ends are text and "" is one quote. Lines end with LF or CR LF; an empty line is passed over; a
// byte order mark is passed over. All rows have as many fields as the first. One thread at a time. Errors: no such file
// not_found; a row or field that breaks these rules data_loss, with its line and column.
class csv_reader {
 public:
  explicit csv_reader(const file_path& path, csv_options options = {});

  // False at the end of the file.
  bool next();
  const std::vector<std::string>& row() const { return row_; }      // the wanted fields of the row that next() read
  std::uint64_t line() const { return row_line_; }                  // on which it began, from 1
  const std::vector<std::string>& names() const { return names_; }  // of the wanted columns; empty without a header

  // "data.csv, line 3, column 2 (price): why"; the column is one of the wanted ones, from 0.
  error complain(std::size_t column, const std::string& why) const;

 private:
  static constexpr int end_of_file = -1;

  int peek();
  int take();
  [[noreturn]] void refuse(const std::string& why) const;

  bool read_row();
  bool is_separator(int c) const { return c == static_cast<unsigned char>(options_.separator); }
  bool next_field();
  void end_line();
  std::string read_field();
  std::string read_quoted();

  void find_columns();

  input_file file_;
  csv_options options_;
  std::string piece_;  // of the file, from piece_begin_
  std::uint64_t piece_begin_ = 0, at_ = 0, line_ = 1, row_line_ = 1;
  std::size_t fields_ = 0;  // of every row; 0: not known yet
  std::vector<std::string> row_, names_;
  std::vector<std::size_t> wanted_;
};

namespace detail {

// Makes `*to`, an element of that dtype, the value of a field; false where it is none.
bool parse_field(std::string_view field, dtype type, void* to);

// Complains where the field of a column is no value of that dtype.
void read_field(const csv_reader& from, std::size_t column, dtype type, void* to);

// Complains where rows have another number of columns.
void need_columns(const csv_reader& rows, std::size_t count);

std::vector<any_tensor> read_csv(const file_path& path, csv_options options, std::span<const dtype> types);
any_tensor read_csv_matrix(const file_path& path, csv_options options, dtype type);

}  // namespace detail

// A field as a value: numbers in C's notation without a locale, spaces around them allowed; booleans true, false, 1 or
// 0. Nothing where it is none, or out of the type's range.
template <element T>
std::optional<T> parse_field(std::string_view field) {
  T value{};
  if (!detail::parse_field(field, dtype_of<T>, &value)) return std::nullopt;
  return value;
}

// The field of a column, or complains where it is no T.
template <element T>
T field_as(const csv_reader& from, std::size_t column) {
  T value{};
  detail::read_field(from, column, dtype_of<T>, &value);
  return value;
}

// One tensor [rows] for each type: auto [height, name] = read_csv<float, std::string>("people.csv", {.header = true}).
// Errors: see csv_reader; a field that is no value of its column's type data_loss, with line and column.
template <element... Ts>
std::tuple<tensor<Ts>...> read_csv(const file_path& path, csv_options options = {}) {
  static_assert(sizeof...(Ts) > 0, "read_csv<float, int, ...> takes the type of each column");
  constexpr dtype types[] = {dtype_of<Ts>...};
  auto columns = detail::read_csv(path, std::move(options), types);
  return take_tuple<std::tuple<tensor<Ts>...>>(columns);
}

// All columns as one tensor [rows, columns]; [0, 0] of an empty file.
template <element T>
tensor<T> read_csv_matrix(const file_path& path, csv_options options = {}) {
  return tensor<T>(detail::read_csv_matrix(path, std::move(options), dtype_of<T>));
}

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/csv.ipp>
#endif
