// The file in which a task keeps its variables while it does not run.
#pragma once

#include <filesystem>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>
#include <pinion/base/outcome.hpp>

namespace pinion { inline namespace v0 {
namespace runtime {
class task;
}
namespace distributed {

struct kept_variable;

// Takes the variables of the task from the file (see kept_file) when it is made, and puts them there with write(). Once
// the task serves, the file is renamed to FILE.taken by settle(), so that no later life, after a crash say, begins with
// it, and a task that does not come to serve has taken nothing away. It refers to the task. For one thread.
//
// The constructor throws not_found where the folder of the file is not there, failed_precondition for a file of
// another task, or of a device that the task has not, or where a folder has the name FILE.taken, the errors of
// files::safetensors_reader, and those of files::output_file where no file can be written there.
class kept_variables {
 public:
  // An empty path: nothing is kept.
  kept_variables(runtime::task& of, std::string task, std::filesystem::path file);

  // Puts the file away from which the task has taken its variables. Throws failed_precondition where the system
  // refuses.
  void settle();
  // Replaces the file by the variables that have values, of all containers. A variable that an update holds, or whose
  // value a device has not copied to the host, is waited for until that time; then the log names it, and the file has
  // the others. Where the file cannot be written the log has the reason, and an earlier one stays. Returns whether
  // nothing that it asked of devices goes on. Requires: no step begins.
  bool write(time_point until);
  // Throws the error for which write() failed, or for which the file lacks variables.
  void expect_written() const;

 private:
  // The file once its variables were taken.
  std::filesystem::path taken() const;
  void take();
  void take(const kept_variable& v);
  // Throws deadline_exceeded, with the names of those that were late, once the others are written.
  void write_all(time_point until) const;

  runtime::task& of_;
  const std::string task_;
  const std::filesystem::path file_;
  int variables_ = 0;      // that it has taken
  bool has_file_ = false;  // it was there, and has not been put away
  outcome<> written_;
};

}  // namespace distributed
}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/kept_variables.ipp>
#endif
