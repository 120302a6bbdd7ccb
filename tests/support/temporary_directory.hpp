// A directory of a test's own, gone with it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

struct temporary_directory {
  std::filesystem::path path;
  temporary_directory() {
    std::string name = (std::filesystem::temp_directory_path() / "pinion_test_XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary directory");
    path = name;
  }
  temporary_directory(const temporary_directory&) = delete;
  ~temporary_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};
