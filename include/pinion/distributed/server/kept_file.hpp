// The file of variables that a task keeps: a safetensors file, whatever the variables are called.
//
// A variable with an ordinary name is a tensor of its name, as NAME or CONTAINER:NAME. Others share tensors of bytes,
// pinion.others.0 and so on: each of them is a head (rpc::writer) and its elements. Those are ones that the format has
// no place for, such as "__metadata__" and what is not UTF-8, and as many as would make the header longer than readers
// take. So no name that somebody gave one variable keeps the others out of the file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/files/safetensors_reader.hpp>
#include <pinion/tensor/shape.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// A variable with its value, which is of no text and in host memory. A value.
struct kept_variable {
  std::string container, name;
  std::string device;  // its full name, or "" for a variable that no kernel has named
  shape declared;      // which shapes the variable may take
  any_tensor value;
};

// Replaces a file by those variables of a task. The file can be read by the user of the process alone. Throws the
// errors of files::safetensors_writer for disks; names give it no reason.
void write_kept_file(const std::filesystem::path& file, const std::string& task, const std::vector<kept_variable>& all);

// Such a file, open. For one thread. Throws the errors of files::safetensors_reader.
class kept_file {
 public:
  explicit kept_file(std::filesystem::path path) : in_(path), path_(path.string()) {}

  // The full name of the task that wrote it, or "".
  std::string task() const { return note("pinion.task"); }
  // Calls it with each variable, and holds the value of no more than some at a time.
  void for_each(const std::function<void(kept_variable)>& f) const;

 private:
  std::string note(const std::string& name) const;
  kept_variable read(const files::stored_tensor& t) const;
  void read_others(const files::stored_tensor& t, const std::function<void(kept_variable)>& f) const;

  const files::safetensors_reader in_;
  const std::string path_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/kept_file.ipp>
#endif
