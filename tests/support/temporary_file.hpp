// A file of a test's own, gone with it.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <string>

struct temporary_file {
  std::string path = "/tmp/pinion_test_XXXXXX";
  temporary_file() {
    const int fd = ::mkstemp(path.data());
    if (fd < 0) throw std::runtime_error("cannot make a temporary file");
    ::close(fd);
  }
  temporary_file(const temporary_file&) = delete;
  ~temporary_file() { ::unlink(path.c_str()); }
  void write(const std::string& text) const { std::ofstream(path) << text; }
};
