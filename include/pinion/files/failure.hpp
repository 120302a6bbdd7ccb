// Errors of the operating system about files, as errors of pinion.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include <pinion/base/error.hpp>
#include <pinion/base/file_path.hpp>

namespace pinion { inline namespace v0 { namespace files {

// The code for an errno: not_found if the file does not exist, resource_exhausted if the disk is full, and so on.
//
//   ENOENT not_found          EACCES permission_denied     ENOSPC, EMFILE resource_exhausted
//   EISDIR invalid_argument   EEXIST already_exists        EIO data_loss, all others unknown
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

// An error with a sentence such as "cannot open /a/b: No such file or directory". `number` is errno, read at once after
// the call that failed.
inline error io_failure(const std::string& doing, const file_path& path, int number) {
  return error(code_of_errno(number),
               "cannot " + doing + " " + path.text() + ": " + std::generic_category().message(number));
}

}}}  // namespace pinion::v0::files
