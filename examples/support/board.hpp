// Standard output shared by several who write to it: text, and below it a live line for each of them.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

// Takes what each has written, in pieces, and reads it as a terminal would: "\r" makes a live line, which the writer's
// next one replaces; a "\n" right after it makes that text.
class board {
 public:
  explicit board(std::size_t writers) : pieces_(writers), lines_(writers) {}

  void write(std::size_t writer, const std::string& bytes) {
    std::string text;
    for (const char c : bytes) {
      if (c != '\n' && c != '\r') {
        pieces_[writer] += c;
      } else if (c == '\r') {
        lines_[writer] = std::exchange(pieces_[writer], {});
      } else {
        text += std::exchange(pieces_[writer].empty() ? lines_[writer] : pieces_[writer], {}) + '\n';
      }
    }
    show(text);
  }

 private:
  void show(const std::string& text) {
    if (shown_ > 0) fmt::print("\033[{}A\033[J", shown_);
    fmt::print("{}", text);
    shown_ = 0;
    for (const std::string& line : lines_) {
      if (line.empty()) continue;
      fmt::print("{}\n", line.substr(0, width()));
      ++shown_;
    }
    std::fflush(stdout);
  }
  // A line that wraps would take two rows.
  static std::size_t width() {
    winsize window{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 ? window.ws_col : std::string::npos;
  }

  std::vector<std::string> pieces_, lines_;
  std::size_t shown_ = 0;
};
