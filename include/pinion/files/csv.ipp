// Bodies of <pinion/files/csv.hpp>.
#pragma once

#include <algorithm>
#include <charconv>
#include <system_error>

#include <pinion/files/csv.hpp>
#include <pinion/tensor/copy.hpp>

namespace pinion { inline namespace v0 { namespace files {

PINION_DECL csv_reader::csv_reader(const file_path& path, csv_options options)
    : file_(path), options_(std::move(options)) {
  for (const char mark : {'\xef', '\xbb', '\xbf'})
    if (at_ < 3 && peek() == static_cast<unsigned char>(mark)) ++at_;
  if (at_ != 3) at_ = 0;
  if (options_.header && read_row()) names_ = row_;
  find_columns();
}

PINION_DECL bool csv_reader::next() {
  if (!read_row()) return false;
  if (wanted_.empty()) return true;
  std::vector<std::string> chosen;
  for (const std::size_t i : wanted_) chosen.push_back(row_[i]);
  row_ = std::move(chosen);
  return true;
}

PINION_DECL error csv_reader::complain(std::size_t column, const std::string& why) const {
  const std::size_t place = wanted_.empty() ? column : wanted_[column];
  return error(errc::data_loss, file_.path() + ", line " + std::to_string(row_line_) + ", column " +
                                    std::to_string(place + 1) +
                                    (column < names_.size() ? " (" + names_[column] + ")" : "") + ": " + why);
}

PINION_DECL int csv_reader::peek() {
  if (at_ - piece_begin_ >= piece_.size()) {
    piece_begin_ = at_;
    piece_.resize(64 * 1024);
    piece_.resize(file_.read_some(at_, piece_.data(), piece_.size()));
    if (piece_.empty()) return end_of_file;
  }
  return static_cast<unsigned char>(piece_[at_ - piece_begin_]);
}

PINION_DECL int csv_reader::take() {
  const int c = peek();
  if (c != end_of_file) ++at_;
  if (c == '\n') ++line_;
  return c;
}

PINION_DECL void csv_reader::refuse(const std::string& why) const {
  throw error(errc::data_loss, file_.path() + ", line " + std::to_string(line_) + ", column " +
                                   std::to_string(row_.size() + 1) + ": " + why);
}

PINION_DECL bool csv_reader::read_row() {
  while (peek() == '\n' || peek() == '\r') end_line();
  row_.clear();
  row_line_ = line_;
  if (peek() == end_of_file) return false;
  do row_.push_back(read_field());
  while (next_field());
  if (fields_ == 0) fields_ = row_.size();
  if (row_.size() != fields_)
    throw error(errc::data_loss, file_.path() + ", line " + std::to_string(row_line_) + ": " +
                                     std::to_string(row_.size()) + " fields, where the first row has " +
                                     std::to_string(fields_));
  return true;
}

PINION_DECL bool csv_reader::next_field() {
  const int c = peek();
  if (c == end_of_file) return false;
  if (is_separator(c)) {
    take();
    return true;
  }
  end_line();
  return false;
}

PINION_DECL void csv_reader::end_line() {
  if (take() == '\n') return;
  if (peek() != '\n') refuse("a carriage return without a line feed after it");
  take();
}

PINION_DECL std::string csv_reader::read_field() {
  if (peek() == '"') return read_quoted();
  std::string field;
  for (int c = peek(); c != end_of_file && c != '\n' && c != '\r' && !is_separator(c); c = peek()) {
    if (c == '"') refuse("a quote within a field that does not begin with one");
    field += static_cast<char>(take());
  }
  return field;
}

PINION_DECL std::string csv_reader::read_quoted() {
  std::string field;
  const std::uint64_t began = line_;
  take();
  for (;;) {
    const int c = take();
    if (c == end_of_file) refuse("the quote that opens on line " + std::to_string(began) + " does not close");
    if (c == '"' && peek() != '"') break;
    if (c == '"') take();
    field += static_cast<char>(c);
  }
  const int after = peek();
  if (after != end_of_file && after != '\n' && after != '\r' && !is_separator(after))
    refuse("text after the quote that closes a field");
  return field;
}

PINION_DECL void csv_reader::find_columns() {
  if (options_.columns.empty()) return;
  for (const std::string& name : options_.columns) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end())
      throw error(errc::not_found,
                  file_.path() + (options_.header ? " has no column '" + name + "'"
                                                  : ": columns have names only where there is a header"));
    wanted_.push_back(static_cast<std::size_t>(found - names_.begin()));
  }
  names_ = options_.columns;
}

namespace detail {

inline std::string_view without_spaces(std::string_view field) {
  while (!field.empty() && (field.front() == ' ' || field.front() == '\t')) field.remove_prefix(1);
  while (!field.empty() && (field.back() == ' ' || field.back() == '\t')) field.remove_suffix(1);
  return field;
}

inline bool parse_boolean(std::string_view field, bool& to) {
  to = field == "true" || field == "1";
  return to || field == "false" || field == "0";
}

// Is a decimal number smaller than one, whatever its sign?
inline bool is_below_one(std::string_view number) {
  const std::string_view digits = number.substr(0, number.find_first_of("eE"));
  std::string_view power = number.substr(digits.size());
  power.remove_prefix(std::min<std::size_t>(power.size(), power.starts_with("e+") || power.starts_with("E+") ? 2 : 1));
  std::int64_t exponent = 0;
  if (std::from_chars(power.data(), power.data() + power.size(), exponent).ec == std::errc::result_out_of_range)
    return power.front() == '-';
  const auto point = std::min(digits.find('.'), digits.size()), first = digits.find_first_of("123456789");
  if (first == digits.npos) return true;
  const auto before = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) + (first > point ? 1 : 0);
  return exponent <= -before;
}

template <class T>
bool parse_number(std::string_view field, T& to) {
  if (field.size() > 1 && field.front() == '+' && field[1] != '-') field.remove_prefix(1);
  const auto [end, problem] = std::from_chars(field.data(), field.data() + field.size(), to);
  if (field.empty() || end != field.data() + field.size()) return false;
  if constexpr (std::is_floating_point_v<T>) {  // one that is too small becomes zero, or a subnormal one
    if (problem == std::errc::result_out_of_range && is_below_one(field)) {
      double wide = field.front() == '-' ? -0.0 : 0.0;
      if constexpr (std::is_same_v<T, float>) parse_number(field, wide);
      to = static_cast<T>(wide);
      return true;
    }
  }
  return problem == std::errc{};
}

PINION_DECL bool parse_field(std::string_view field, dtype type, void* to) {
  if (type == dtype::string) {
    *static_cast<std::string*>(to) = field;
    return true;
  }
  field = without_spaces(field);
  if (type == dtype::boolean) return parse_boolean(field, *static_cast<bool*>(to));
  return visit_plain<dtypes::moved>(type, [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      return false;
    } else if constexpr (std::is_arithmetic_v<T>) {
      return parse_number(field, *static_cast<T*>(to));
    } else {
      double wide = 0;
      const bool is_number = parse_number(field, wide);
      *static_cast<T*>(to) = T(wide);
      return is_number;
    }
  });
}

PINION_DECL void read_field(const csv_reader& from, std::size_t column, dtype type, void* to) {
  const std::string& field = from.row()[column];
  if (!parse_field(field, type, to))
    throw from.complain(column, "'" + field + "' is no " + std::string(to_string(type)));
}

PINION_DECL void need_columns(const csv_reader& rows, std::size_t count) {
  if (rows.row().size() != count)
    throw rows.complain(0,
                        "rows of " + std::to_string(rows.row().size()) + " columns, read as " + std::to_string(count));
}

// Elements whose number is not known before the last one is read.
class growing_elements {
 public:
  explicit growing_elements(dtype type) : room_(type, shape{64}) {}
  dtype type() const { return room_.dtype(); }
  // The place of the next element.
  void* next() {
    if (count_ == room_.count()) room_ = copied({2 * count_});
    return room_.byte_data() + static_cast<std::size_t>(count_++) * size_of(type());
  }
  any_tensor as(const shape& extent) const { return copied(extent); }

 private:
  any_tensor copied(const shape& extent) const {
    any_tensor to(type(), extent);
    copy_elements(type(), room_.raw(), count_, to.raw());
    return to;
  }

  any_tensor room_;
  std::int64_t count_ = 0;
};

PINION_DECL std::vector<any_tensor> read_csv(const file_path& path, csv_options options, std::span<const dtype> types) {
  csv_reader rows(path, std::move(options));
  std::vector<growing_elements> columns(types.begin(), types.end());
  std::int64_t count = 0;
  for (; rows.next(); ++count) {
    need_columns(rows, columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) read_field(rows, i, columns[i].type(), columns[i].next());
  }
  std::vector<any_tensor> result;
  for (const growing_elements& column : columns) result.push_back(column.as({count}));
  return result;
}

PINION_DECL any_tensor read_csv_matrix(const file_path& path, csv_options options, dtype type) {
  csv_reader rows(path, std::move(options));
  growing_elements values(type);
  std::int64_t count = 0, width = static_cast<std::int64_t>(rows.names().size());
  for (; rows.next(); ++count) {
    width = static_cast<std::int64_t>(rows.row().size());
    for (std::size_t i = 0; i < rows.row().size(); ++i) read_field(rows, i, type, values.next());
  }
  return values.as({count, width});
}

}  // namespace detail

}}}  // namespace pinion::v0::files
