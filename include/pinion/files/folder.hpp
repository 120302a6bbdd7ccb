// Folders that files are written to.
#pragma once

#include <filesystem>
#include <system_error>

#include <pinion/files/failure.hpp>

namespace pinion::inline v0::files {

// With those above it; nothing where it is there, or is the one that the program runs in ("").
inline void make_folder(const std::filesystem::path& folder) {
  std::error_code trouble;
  if (!folder.empty()) std::filesystem::create_directories(folder, trouble);
  if (trouble) throw io_failure("make the folder", folder, trouble.value());
}

// Nothing where it is not there.
inline void remove_file(const std::filesystem::path& file) {
  std::error_code trouble;
  std::filesystem::remove(file, trouble);
  if (trouble) throw io_failure("remove", file, trouble.value());
}

}  // namespace pinion::inline v0::files
