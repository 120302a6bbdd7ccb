// Bodies of <pinion/rpc/security/secret_file.hpp>.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <pinion/base/error.hpp>
#include <pinion/rpc/security/secret_file.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {

struct open_file {
  explicit open_file(const std::string& path) : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  open_file(const open_file&) = delete;
  ~open_file() {
    if (number >= 0) ::close(number);
  }
  const int number;
};

// The permissions that no file may have which these may read. A secret of root may be read by its group, as secrets
// that are mounted into containers are; PostgreSQL takes its keys by the same rule.
inline unsigned refused_mode(readers allowed, bool of_root) {
  if (allowed == readers::anybody) return 022;
  return of_root ? 037 : 077;
}

// Throws unless nobody but those who may has been able to read the file, or to write it.
inline void check_access(int file, const std::string& path, const std::string& what, readers allowed) {
  struct stat about {};
  const std::string named = what + " '" + path + "'";
  if (::fstat(file, &about) != 0) throw error(errc::invalid_argument, named + " has no permissions");
  const auto mode = static_cast<unsigned>(about.st_mode & 0777);
  const bool secret = allowed == readers::owner;
  if (secret && about.st_uid != ::geteuid() && about.st_uid != 0)
    throw error(errc::failed_precondition, named + " belongs to another user of this machine (number " +
                                               std::to_string(about.st_uid) + "), who may read and change it");
  if ((mode & refused_mode(allowed, about.st_uid == 0)) == 0) return;
  std::array<char, 8> octal{};
  std::snprintf(octal.data(), octal.size(), "%03o", mode);
  throw error(errc::failed_precondition,
              named + (secret ? " is open to other users of this machine (mode " : " may be changed by others (mode ") +
                  octal.data() + (secret ? "); chmod 600 makes it a secret" : "); chmod go-w ends that"));
}

// Waits until there is something to read. A pipe, as a shell makes one of `<(command)`, may stay empty for a while.
inline void expect_bytes(int file, const std::string& path, const std::string& what) {
  constexpr int max_wait_ms = 10'000;
  pollfd asked{file, POLLIN, 0};
  if (::poll(&asked, 1, max_wait_ms) == 0)
    throw error(errc::invalid_argument,
                what + " '" + path + "' is a pipe into which nobody has written for ten seconds");
}

inline std::string read_whole(int file, const std::string& path, const std::string& what) {
  constexpr std::size_t most = std::size_t{1} << 20;
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    expect_bytes(file, path, what);
    const auto n = ::read(file, piece.data(), piece.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) throw error(errc::invalid_argument, what + " '" + path + "' cannot be read: " + std::strerror(errno));
    if (n == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(n));
    if (text.size() > most) throw error(errc::invalid_argument, what + " '" + path + "' has more than 1 MiB");
  }
}

}  // namespace detail

PINION_DECL std::string read_credential(const std::string& path, const std::string& what, readers allowed) {
  const detail::open_file file(path);
  if (file.number < 0)
    throw error(errno == ENOENT ? errc::not_found : errc::invalid_argument,
                what + " '" + path + "' cannot be opened: " + std::strerror(errno));
  detail::check_access(file.number, path, what, allowed);
  return detail::read_whole(file.number, path, what);
}

}}}  // namespace pinion::v0::rpc
