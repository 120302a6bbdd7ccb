// A folder for the files of one test.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

// New and empty; gone, with what is in it, when this goes.
class temporary_folder {
 public:
  temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "pinion_XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  temporary_folder(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& folder() const { return path_; }
  std::string path() const { return path_.string(); }
  std::string path(const std::string& inside) const { return (path_ / inside).string(); }
  // The names of the files in it, in order.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& f : std::filesystem::directory_iterator(path_)) names.push_back(f.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::filesystem::path path_;
};
