// The terminal, if standard output is one.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace status {

// The place where pages are written. A page drawn anew covers the one before, on a screen of its own, which ends with
// this object. Where there is no terminal, pages follow each other.
class terminal {
 public:
  explicit terminal(bool draws_anew) : anew_(draws_anew && is_one()) {
    if (anew_) write("\x1b[?1049h\x1b[?25l");  // another screen, no cursor
  }
  terminal(const terminal&) = delete;
  ~terminal() {
    if (anew_) write("\x1b[?25h\x1b[?1049l");
  }

  static bool is_one() { return ::isatty(STDOUT_FILENO) == 1; }
  // NO_COLOR is the users' common way to say no.
  static bool has_colours() {
    const char* no = std::getenv("NO_COLOR");
    return is_one() && (no == nullptr || *no == '\0');
  }
  // The columns of a line; where there is no terminal, any number of them.
  static std::size_t width() { return is_one() ? std::max<std::size_t>(size().ws_col, 40) : 100'000; }

  void show(const std::vector<std::string>& lines) {
    std::string all = anew_ ? "\x1b[H" : first_ ? "" : "\n";
    const std::size_t most = anew_ ? std::max<std::size_t>(size().ws_row, 5) - 1 : lines.size();
    for (std::size_t i = 0; i < lines.size() && i < most; ++i) {
      const bool last = i + 1 == most && lines.size() > most;
      all += last ? "... " + std::to_string(lines.size() - i) + " more lines" : lines[i];
      all += anew_ ? "\x1b[K\n" : "\n";
    }
    if (anew_) all += "\x1b[J";
    first_ = false;
    write(all);
  }

 private:
  static winsize size() {
    winsize is{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &is) != 0 || is.ws_col == 0) is.ws_row = 24, is.ws_col = 80;
    return is;
  }
  static void write(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

  const bool anew_;
  bool first_ = true;
};

}  // namespace status
