// Writes an event file, which TensorBoard reads while it grows.
//
// Invariants
//   1. The file holds whole records but for the end of a write that failed; the next write goes on where that one
//   ended.
//   2. Earlier bytes are never changed, and no other process has the file: its name holds host, process and a number.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/train/summary/event.hpp>

namespace pinion { inline namespace v0 { namespace train {

// What std::time tells, as a fraction.
inline double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

struct event_file_options {
  double flush_secs = 120;     // an event that comes later than that after the last write is written, with all before
  std::size_t max_queue = 10;  // as is the one that makes so many
  std::string filename_suffix = {};
  std::function<double()> clock = seconds_since_1970;
};

// Makes DIR/events.out.tfevents.TIME.HOST.PID.N, and DIR where it is missing. Owns the file. Thread-safe.
//
// The version and the first event are written at once. Later ones wait in memory until there are max_queue of them, or
// until one comes flush_secs after the last write, or until flush(), close() or the destructor. An error (no room, no
// permission) names the file; the events still wait then, up to 64 MiB, and the next flush tries again.
class event_file_writer {
 public:
  using options = event_file_options;

  explicit event_file_writer(const std::filesystem::path& dir, const options& o = {});
  event_file_writer(const event_file_writer&) = delete;
  // Writes what waits; what goes wrong is told to nobody.
  ~event_file_writer();

  const std::filesystem::path& path() const { return path_; }
  double now() const { return options_.clock(); }

  // An event of now. Throws failed_precondition once closed.
  void add(event_kind kind, std::string body, std::int64_t step = 0);
  void add(const event& e);
  void flush();
  // Later calls do nothing.
  void close();

 private:
  void open(const std::filesystem::path& dir);
  void write_waiting();

  const options options_;
  std::filesystem::path path_;
  std::mutex mutex_;
  int file_ = -1;
  std::string waiting_;  // bytes of records
  std::size_t events_ = 0, events_before_ = 0;
  double written_at_ = 0;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/summary/event_file_writer.ipp>
#endif
