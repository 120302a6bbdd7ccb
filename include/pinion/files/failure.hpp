// What the system says when a file cannot be had, as an error.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include <pinion/base/error.hpp>
#include <pinion/base/file_path.hpp>

namespace pinion { inline namespace v0 { namespace files {

constexpr errc code_of_errno(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR: return errc::not_found;
    case EACCES:
    case EPERM:
    case EROFS: return errc::permission_denied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return errc::resource_exhausted;
    case EISDIR:
    case EINVAL:
    case ELOOP:
    case ENAMETOOLONG: return errc::invalid_argument;
    case EEXIST: return errc::already_exists;
    case EIO: return errc::data_loss;
    default: return errc::unknown;
  }
}

// "cannot open /a/b: No such file or directory"
inline error io_failure(const std::string& doing, const file_path& path, int number) {
  return error(code_of_errno(number),
               "cannot " + doing + " " + path.text() + ": " + std::generic_category().message(number));
}

}}}  // namespace pinion::v0::files
