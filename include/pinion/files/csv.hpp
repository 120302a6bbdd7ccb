// Comma-separated values (RFC 4180): rows of texts, and typed columns of a whole file.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/files/input_file.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion::inline v0::files {

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
  explicit csv_reader(const std::filesystem::path& path, csv_options options = {});

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

// A field as a value: numbers in C's notation without a locale, spaces around them allowed; booleans true, false, 1 or
// 0. Nothing where it is none, or out of the type's range.
template <element T>
std::optional<T> parse_field(std::string_view field) {
  if constexpr (std::is_same_v<T, std::string>) {
    return std::string(field);
  } else {
    while (!field.empty() && (field.front() == ' ' || field.front() == '\t')) field.remove_prefix(1);
    while (!field.empty() && (field.back() == ' ' || field.back() == '\t')) field.remove_suffix(1);
    if constexpr (std::is_same_v<T, bool>) {
      if (field == "true" || field == "1") return true;
      if (field == "false" || field == "0") return false;
      return std::nullopt;
    } else {
      if (field.size() > 1 && field.front() == '+' && field[1] != '-') field.remove_prefix(1);
      T value{};
      const auto [end, problem] = std::from_chars(field.data(), field.data() + field.size(), value);
      if (field.empty() || end != field.data() + field.size()) return std::nullopt;
      if constexpr (std::is_same_v<T, float>) {  // too small for a float is zero, or nearly
        const auto wide = problem == std::errc::result_out_of_range ? parse_field<double>(field) : std::nullopt;
        if (wide && *wide > -1 && *wide < 1) return static_cast<float>(*wide);
      }
      if (problem != std::errc{}) return std::nullopt;
      return value;
    }
  }
}

// The field of a column, or complains where it is no T.
template <element T>
T field_as(const csv_reader& from, std::size_t column) {
  const std::string& field = from.row()[column];
  auto value = parse_field<T>(field);
  if (!value) throw from.complain(column, "'" + field + "' is no " + std::string(to_string(dtype_of<T>)));
  return *std::move(value);
}

namespace detail {

template <element T>
tensor<T> column_of(const std::vector<T>& values) {
  tensor<T> t(any_tensor(dtype_of<T>, shape{static_cast<std::int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), t.data());
  return t;
}

template <element... Ts, std::size_t... I>
std::tuple<tensor<Ts>...> read_columns(csv_reader& rows, std::index_sequence<I...>) {
  std::tuple<std::vector<Ts>...> columns;
  while (rows.next()) {
    if (rows.row().size() != sizeof...(Ts))
      throw rows.complain(
          0, "rows of " + std::to_string(rows.row().size()) + " columns, read as " + std::to_string(sizeof...(Ts)));
    (std::get<I>(columns).push_back(field_as<Ts>(rows, I)), ...);
  }
  return {column_of<Ts>(std::get<I>(columns))...};
}

}  // namespace detail

// One tensor [rows] for each type: auto [height, name] = read_csv<float, std::string>("people.csv", {.header = true}).
// Errors: see csv_reader; a field that is no value of its column's type data_loss, with line and column.
template <element... Ts>
std::tuple<tensor<Ts>...> read_csv(const std::filesystem::path& path, csv_options options = {}) {
  static_assert(sizeof...(Ts) > 0, "read_csv<float, int, ...> takes the type of each column");
  csv_reader rows(path, std::move(options));
  return detail::read_columns<Ts...>(rows, std::index_sequence_for<Ts...>{});
}

// All columns as one tensor [rows, columns]; [0, 0] of an empty file.
template <element T>
tensor<T> read_csv_matrix(const std::filesystem::path& path, csv_options options = {}) {
  csv_reader rows(path, std::move(options));
  std::vector<T> values;
  std::int64_t count = 0, width = static_cast<std::int64_t>(rows.names().size());
  for (; rows.next(); ++count) {
    width = static_cast<std::int64_t>(rows.row().size());
    for (std::size_t i = 0; i < rows.row().size(); ++i) values.push_back(field_as<T>(rows, i));
  }
  tensor<T> t(any_tensor(dtype_of<T>, shape{count, width}));
  std::copy(values.begin(), values.end(), t.data());
  return t;
}

}  // namespace pinion::inline v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/csv.ipp>
#endif
