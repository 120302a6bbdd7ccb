// Writes an event file, which TensorBoard reads while it grows.
//
// Invariants
//   1. The file holds whole records, but for the end of a write that failed; the next write continues where that one
//      ended.
//   2. Earlier bytes never change. No other process writes to the file: its name holds host, process and a number.
//
// Every process that writes makes a file of its own, such as events.out.tfevents.1700000000.host.123.0. A reader takes
// the files of a directory by name, which is by time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/process.hpp>
#include <pinion/train/summary/event.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The time now, in seconds with a fraction, as std::time counts them.
inline double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The options of an event file writer.
struct event_file_options {
  // The next event that is added this many seconds after the last write is written at once, with all events that wait.
  double flush_secs = 120;
  // Events are written once there are this many.
  std::size_t max_queue = 10;
  // Text at the end of the file name. It must not hold a "/": else invalid_argument.
  std::string filename_suffix = {};
  // Gives the time of events, in seconds since 1970.
  std::function<double()> clock = seconds_since_1970;
};

// Makes the file DIR/events.out.tfevents.TIME.HOST.PID.N, and DIR if it does not exist, and appends events to it. It
// owns the file. Thread-safe.
//
// The version and the first event are written at once. Later events wait in memory until there are max_queue of them,
// or one is added flush_secs after the last write, or until flush(), close() or the destructor. An error of the disk
// names the file. The events then keep waiting, and the next write tries again; once 64 MiB of them wait, add() throws
// resource_exhausted.
class event_file_writer {
 public:
  using options = event_file_options;

  // Makes the file and writes the version into it. Throws the errors of the disk, and invalid_argument for a bad
  // suffix.
  explicit event_file_writer(const std::filesystem::path& dir, const options& o = {});
  event_file_writer(const event_file_writer&) = delete;
  // Writes the events that wait. An error is not reported; close() reports it.
  ~event_file_writer();

  // The path of the file.
  const std::filesystem::path& path() const { return path_; }
  // The time that the next event would get.
  double now() const { return options_.clock(); }

  // Adds an event with the time of now. Throws failed_precondition after close().
  void add(event_kind kind, std::string body, std::int64_t step = 0);
  // Adds an event with a time of its own.
  void add(const event& e);
  // Writes the events that wait.
  void flush();
  // Writes the events that wait and closes the file, even if writing fails. A second call does nothing.
  void close();

 private:
  void open(const std::filesystem::path& dir);
  void write_waiting();

  const options options_;
  const process_mark made_in_;
  std::filesystem::path path_;
  std::mutex mutex_;
  int file_ = -1;
  std::string waiting_;  // the bytes of records that are not written yet
  std::size_t events_ = 0, events_before_ = 0;
  double written_at_ = 0;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/summary/event_file_writer.ipp>
#endif
