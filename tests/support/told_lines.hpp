// What a program tells on standard error.
#pragma once

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <string>

// The lines on standard error, as they come.
class told_lines {
 public:
  told_lines() {
    REQUIRE(::pipe2(ends_, O_CLOEXEC) == 0);
    before_ = ::dup(STDERR_FILENO);
    ::dup2(ends_[1], STDERR_FILENO);
  }
  told_lines(const told_lines&) = delete;
  ~told_lines() {
    ::dup2(before_, STDERR_FILENO);
    for (const int f : {before_, ends_[0], ends_[1]}) ::close(f);
  }
  // The next line, for which it waits.
  std::string next() const {
    std::string line;
    for (char c = 0; ::read(ends_[0], &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  // All that is there, without waiting.
  std::string all() const {
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    std::string text;
    for (char c = 0; ::read(ends_[0], &c, 1) == 1;) text += c;
    return text;
  }

 private:
  int ends_[2] = {}, before_ = -1;
};
