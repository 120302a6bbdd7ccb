// Comma-separated values (RFC 4180): rows of texts, and typed columns of a whole file.
//
//   auto [name, height] = pn::files::read_csv<std::string, float>("people.csv", {.header = true});
//   auto x = pn::files::read_csv_matrix<float>("x.csv");                          // [rows, columns]
//
// people.csv might be:
//
//   name,height
//   "Doe, Jane",1.70
//   "the ""Kid""",1.55
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

// The options of reading a CSV file. A tab separates the columns of .tsv files: {.separator = '\t'}.
struct csv_options {
  // true: the first row names the columns and is not data.
  bool header = false;
  // The character between two fields, such as ',' or '\t'.
  char separator = ',';
  // The names of the columns to read, in this order; they need a header. Empty: all columns.
  std::vector<std::string> columns{};
};

// Reads the rows of a file one after another; it holds one piece of the file in memory. It owns the open file. For one
// thread at a time.
//
// A field may stand in double quotes; inside of them separators and line ends are text, and "" is one quote. Lines end
// with LF or CR LF. Empty lines and a byte order mark are skipped. All rows have as many fields as the first.
//
// Errors: not_found, there is no such file, or no column of a wanted name; data_loss, a row or field that breaks these
// rules, with its line and column; those of input_file.
//
//   pn::files::csv_reader rows("people.csv", {.header = true, .columns = {"name", "height"}});
//   while (rows.next()) std::cout << rows.row()[0] << pn::files::field_as<float>(rows, 1);
//
// Quotes stand around a whole field, or not at all; a carriage return without a line feed is data_loss.
class csv_reader {
 public:
  // Opens the file and reads the header, if it has one.
  explicit csv_reader(const file_path& path, csv_options options = {});

  // Reads the next row, and returns false at the end of the file.
  bool next();
  // The wanted fields of the row that next() has read.
  const std::vector<std::string>& row() const { return row_; }
  // The line on which that row began, counted from 1. A quoted field may span lines, so rows and lines need not be
  // counted alike.
  std::uint64_t line() const { return row_line_; }
  // The names of the wanted columns; empty without a header.
  const std::vector<std::string>& names() const { return names_; }

  // An error with the place of a field in its sentence: "data.csv, line 3, column 2 (price): why". It has the code
  // data_loss; the caller throws it. `column` counts the wanted columns from 0.
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
  std::string piece_;  // a piece of the file, from piece_begin_ on
  std::uint64_t piece_begin_ = 0, at_ = 0, line_ = 1, row_line_ = 1;
  std::size_t fields_ = 0;  // the number of fields of every row; 0: not known yet
  std::vector<std::string> row_, names_;
  std::vector<std::size_t> wanted_;
};

namespace detail {

// Makes `*to`, an element of that dtype, the value of a field. Returns false if the field has no such value.
bool parse_field(std::string_view field, dtype type, void* to);

// Reads the field of a column into `*to`. Throws data_loss if the field is no value of that dtype.
void read_field(const csv_reader& from, std::size_t column, dtype type, void* to);

// Throws data_loss if the rows have another number of columns.
void need_columns(const csv_reader& rows, std::size_t count);

// The columns of read_csv() and the matrix of read_csv_matrix(), without their types.
std::vector<any_tensor> read_csv(const file_path& path, csv_options options, std::span<const dtype> types);
any_tensor read_csv_matrix(const file_path& path, csv_options options, dtype type);

}  // namespace detail

// The value of a field; nothing if the field is no value of the type, or is out of its range. Numbers are in C's
// notation, without a locale, and may have spaces around them; booleans are true, false, 1 or 0. Every field is a text.
//
//   parse_field<int>(" 12 ")                    // 12
//   parse_field<int>("12.5")                    // nothing
//
// Hexadecimal numbers and thousands separators are none. A float field may be "nan" or "inf".
template <element T>
std::optional<T> parse_field(std::string_view field) {
  T value{};
  if (!detail::parse_field(field, dtype_of<T>, &value)) return std::nullopt;
  return value;
}

// The value of a column's field in the current row. Throws data_loss with line and column if it is no T. Requires:
// next() has returned true, and the column is one of row().
template <element T>
T field_as(const csv_reader& from, std::size_t column) {
  T value{};
  detail::read_field(from, column, dtype_of<T>, &value);
  return value;
}

// Reads a whole file into one tensor [rows] for each column. Errors: those of csv_reader; data_loss, with line and
// column, where a field is no value of its column's type, or the file has another number of columns.
//
//   auto [price, rooms] = pn::files::read_csv<float, int>("homes.csv",
//                                                         {.header = true, .columns = {"price", "rooms"}});
// Columns are kept in memory only, as they grow; for files larger than memory take csv_reader, or data::csv.
template <element... Ts>
std::tuple<tensor<Ts>...> read_csv(const file_path& path, csv_options options = {}) {
  static_assert(sizeof...(Ts) > 0, "read_csv<float, int, ...> takes the type of each column");
  constexpr dtype types[] = {dtype_of<Ts>...};
  auto columns = detail::read_csv(path, std::move(options), types);
  return take_tuple<std::tuple<tensor<Ts>...>>(columns);
}

// Reads a whole file into one tensor [rows, columns], all columns of one type; an empty file makes [0, 0]. Errors:
// those of read_csv.
template <element T>
tensor<T> read_csv_matrix(const file_path& path, csv_options options = {}) {
  return tensor<T>(detail::read_csv_matrix(path, std::move(options), dtype_of<T>));
}

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/csv.ipp>
#endif
