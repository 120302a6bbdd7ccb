// Text in columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace status {

// The number of columns that a UTF-8 text takes, and its part that takes at most so many.
inline std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}
inline std::string cut(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) return std::string(text);
  std::size_t end = 0, columns = 0;
  for (; end < text.size(); ++end)
    if ((static_cast<unsigned char>(text[end]) & 0xc0) != 0x80 && ++columns == width) break;
  return width == 0 ? "" : std::string(text.substr(0, end)) + "…";
}

// A column, whose numbers stand at the right.
struct column {
  std::string title;
  bool numbers = false;
};
inline column text(std::string title) {
  return {std::move(title), false};
}
inline column number(std::string title) {
  return {std::move(title), true};
}

// A table of which the last column is cut where a line is too long. A column in which no row says anything is left out.
class table {
 public:
  explicit table(std::vector<column> columns) : columns_(std::move(columns)) {}

  // A row may be shorter than the table.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  // The titles and the rows, each a line of at most so many columns; the first line is the titles.
  std::vector<std::string> lines(std::size_t width) const {
    std::vector<std::size_t> widths(columns_.size(), 0);
    for (const auto& row : rows_)
      for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (widths[c] > 0) widths[c] = std::max(widths[c], width_of(columns_[c].title));
    std::vector<std::string> titles, all;
    for (const column& c : columns_) titles.push_back(c.title);
    all.push_back(line(titles, widths, width));
    for (const auto& row : rows_) all.push_back(line(row, widths, width));
    return all;
  }

 private:
  static constexpr std::size_t gap = 2;

  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                   std::size_t width) const {
    std::string all;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (widths[c] == 0) continue;
      const std::string fill(widths[c] - width_of(cells[c]), ' ');
      if (!all.empty()) all += std::string(gap, ' ');
      all += columns_[c].numbers ? fill + cells[c] : cells[c] + fill;
    }
    all.erase(all.find_last_not_of(' ') + 1);
    return cut(all, width);
  }

  const std::vector<column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace status
