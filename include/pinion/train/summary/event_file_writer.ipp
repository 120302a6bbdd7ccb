// Bodies of <pinion/train/summary/event_file_writer.hpp>.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include <pinion/base/error.hpp>
#include <pinion/base/process.hpp>
#include <pinion/files/failure.hpp>
#include <pinion/files/folder.hpp>
#include <pinion/train/summary/event_file_writer.hpp>
#include <pinion/train/summary/record.hpp>

namespace pinion { inline namespace v0 { namespace train {

namespace detail {

inline std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  return name;
}

struct event_file_names {
  std::atomic<int> given{0};
};

// A name such as "events.out.tfevents.1700000000.host.123.0". The names of one directory sort by time.
inline std::string event_file_name(double time, const std::string& suffix) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%010lld", static_cast<long long>(time));
  return std::string("events.out.tfevents.") + seconds + "." + host_name() + "." + std::to_string(::getpid()) + "." +
         std::to_string(of_this_process<event_file_names>().given++) + suffix;
}

}  // namespace detail

PINION_DECL event_file_writer::event_file_writer(const std::filesystem::path& dir, const options& o) : options_(o) {
  if (options_.filename_suffix.find('/') != std::string::npos)
    throw error(errc::invalid_argument, "'" + options_.filename_suffix + "' is no end of a file name: it holds a /");
  append_record(waiting_, encode({now(), 0, event_kind::file_version, "brain.Event:2"}));
  open(dir);
  try {
    write_waiting();
  } catch (...) {
    ::close(file_);
    throw;
  }
}

PINION_DECL event_file_writer::~event_file_writer() {
  try {
    close();
  } catch (...) {
  }
}

inline void event_file_writer::open(const std::filesystem::path& dir) {
  files::make_folder(dir);
  do {
    path_ = files::absolute_path(dir.empty() ? "." : dir) / detail::event_file_name(now(), options_.filename_suffix);
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  } while (file_ < 0 && (errno == EEXIST || errno == EINTR));
  if (file_ < 0) throw files::io_failure("make the event file", path_, errno);
}

inline void event_file_writer::write_waiting() {
  while (!waiting_.empty()) {
    const ssize_t n = ::write(file_, waiting_.data(), waiting_.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw files::io_failure("write to the event file", path_, errno);
    waiting_.erase(0, static_cast<std::size_t>(n));
  }
  events_before_ += events_;
  events_ = 0;
  written_at_ = now();
}

PINION_DECL void event_file_writer::add(event_kind kind, std::string body, std::int64_t step) {
  add(event{now(), step, kind, std::move(body)});
}

PINION_DECL void event_file_writer::add(const event& e) {
  constexpr std::size_t most_waiting = 64 << 20;
  const std::string bytes = encode(e);
  std::lock_guard hold(mutex_);
  if (file_ < 0) throw error(errc::failed_precondition, "event file '" + path_.string() + "' is closed");
  if (events_ > 0 && waiting_.size() > most_waiting)
    throw error(errc::resource_exhausted,
                "event file '" + path_.string() + "' cannot be written to, and no more events are kept for it");
  append_record(waiting_, bytes);
  ++events_;
  const double waited = now() - written_at_;
  if (events_before_ == 0 || events_ >= options_.max_queue || !(waited < options_.flush_secs)) write_waiting();
}

PINION_DECL void event_file_writer::flush() {
  std::lock_guard hold(mutex_);
  if (file_ >= 0) write_waiting();
}

PINION_DECL void event_file_writer::close() {
  std::lock_guard hold(mutex_);
  if (file_ < 0) return;
  try {
    if (made_in_.is_this()) write_waiting();  // the parent of a fork() writes what it holds itself
  } catch (...) {
    ::close(std::exchange(file_, -1));
    throw;
  }
  ::close(std::exchange(file_, -1));
}

}}}  // namespace pinion::v0::train
