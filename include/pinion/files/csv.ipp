// Bodies of <pinion/files/csv.hpp>.
#pragma once

#include <pinion/files/csv.hpp>

namespace pinion::inline v0::files {

PINION_DECL csv_reader::csv_reader(const std::filesystem::path& path, csv_options options)
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
  return error(errc::data_loss, file_.path().string() + ", line " + std::to_string(row_line_) + ", column " +
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
  throw error(errc::data_loss, file_.path().string() + ", line " + std::to_string(line_) + ", column " +
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
    throw error(errc::data_loss, file_.path().string() + ", line " + std::to_string(row_line_) + ": " +
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
                  file_.path().string() + (options_.header ? " has no column '" + name + "'"
                                                           : ": columns have names only where there is a header"));
    wanted_.push_back(static_cast<std::size_t>(found - names_.begin()));
  }
  names_ = options_.columns;
}

}  // namespace pinion::inline v0::files
