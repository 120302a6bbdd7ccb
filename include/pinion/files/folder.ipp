// Bodies of <pinion/files/folder.hpp>.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <pinion/base/process.hpp>
#include <pinion/files/failure.hpp>
#include <pinion/files/folder.hpp>

namespace pinion { inline namespace v0 { namespace files {

PINION_DECL bool is_there(const std::filesystem::path& path) {
  std::error_code trouble;
  const bool found = std::filesystem::exists(path, trouble);
  if (trouble) throw io_failure("look at", path, trouble.value());
  return found;
}

PINION_DECL void make_folder(const std::filesystem::path& folder) {
  std::error_code trouble;
  if (!folder.empty()) std::filesystem::create_directories(folder, trouble);
  if (trouble) throw io_failure("make the folder", folder, trouble.value());
}

PINION_DECL std::filesystem::path absolute_path(const std::filesystem::path& path) {
  if (path.empty()) return path;
  std::error_code trouble;
  const auto whole = std::filesystem::absolute(path, trouble);
  if (trouble) throw io_failure("find", path, trouble.value());
  return whole;
}

PINION_DECL std::filesystem::path resolved(const std::filesystem::path& path) {
  const auto whole = absolute_path(path);
  std::error_code trouble;
  const auto folder = std::filesystem::weakly_canonical(whole.parent_path(), trouble);
  return trouble ? whole : folder / whole.filename();
}

PINION_DECL void remove_file(const std::filesystem::path& file) {
  std::error_code trouble;
  std::filesystem::remove(file, trouble);
  if (trouble) throw io_failure("remove", file, trouble.value());
}

namespace detail {
// A folder that this process holds. The child of a fork() has it open, too, and leaves it held.
struct held_folder {
  explicit held_folder(int opened) : descriptor(opened) {}
  held_folder(const held_folder&) = delete;
  ~held_folder() {
    if (made_in.is_this()) ::flock(descriptor, LOCK_UN);
    ::close(descriptor);
  }
  const int descriptor;
  const process_mark made_in = {};
};
}  // namespace detail

PINION_DECL std::shared_ptr<const void> hold_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw io_failure("open", folder, errno);
  auto held = std::make_shared<detail::held_folder>(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return nullptr;
  return held;
}

}}}  // namespace pinion::v0::files
