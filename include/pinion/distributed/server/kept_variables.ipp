// Bodies of <pinion/distributed/server/kept_variables.hpp>.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <pinion/base/countdown.hpp>
#include <pinion/base/log.hpp>
#include <pinion/distributed/server/kept_variables.hpp>
#include <pinion/files/safetensors_reader.hpp>
#include <pinion/files/safetensors_writer.hpp>
#include <pinion/runtime/task.hpp>
#include <pinion/state/variable.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

namespace detail {

inline constexpr const char *note_of_task = "pinion.task",
                            *note_of_device = "pinion.device:", *note_of_shape = "pinion.shape:";

// Names in files: no name of a container or a variable has a colon.
inline std::string name_in_file(const std::string& container, const std::string& name) {
  return container.empty() ? name : container + ":" + name;
}
inline std::pair<std::string, std::string> names_of(const std::string& in_file) {
  const auto colon = in_file.find(':');
  if (colon == in_file.npos) return {"", in_file};
  return {in_file.substr(0, colon), in_file.substr(colon + 1)};
}

// The extents that a variable was declared with: "-1 10", or "any".
inline std::string text_of_declared(const shape& s) {
  if (s.rank() < 0) return "any";
  return fmt::format("{}", fmt::join(s.dims(), " "));
}
inline shape declared_in(const std::string& text, const std::string& file) {
  if (text == "any") return shape::any();
  shape s;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    std::int64_t extent = 0;
    const auto read = std::from_chars(text.data() + at, text.data() + end, extent);
    if (read.ec != std::errc() || read.ptr != text.data() + end || extent < unknown || s.rank() == shape::max_rank)
      throw error(errc::data_loss, file + " has a note of a shape '" + text + "'");
    s.push_back(extent);
    at = end + 1;
  }
  return s;
}

inline devices::device* device_called(runtime::task& of, const std::string& name) {
  for (const auto& d : of.devices)
    if (d->name() == name) return d.get();
  return nullptr;
}

// The value in host memory, or nothing where its device has not copied it by then. A device that fails says so to the
// callback, but one that hangs does not.
inline std::optional<any_tensor> on_host(devices::device* at, const any_tensor& value, time_point until) {
  if (!at || value.on_host()) return value;
  struct copying {
    countdown ended;
    outcome<any_tensor> copy = error(errc::internal, "");
  };
  const auto its = std::make_shared<copying>();
  at->to_host(value, [its](outcome<any_tensor> copied) {
    its->copy = std::move(copied);
    its->ended.count_down();
  });
  if (!its->ended.wait(until)) return std::nullopt;
  return std::move(its->copy).value();
}

}  // namespace detail

PINION_DECL kept_variables::kept_variables(runtime::task& of, std::string task, std::filesystem::path file)
    : of_(of), task_(std::move(task)), file_(std::move(file)) {
  if (file_.empty()) return;
  const auto folder = std::filesystem::absolute(file_).parent_path();
  if (!std::filesystem::is_directory(folder))
    throw error(errc::not_found, task_ + " is to keep its variables in " + file_.string() + ", but " + folder.string() +
                                     " is no folder (server_config.keep)");
  if (std::filesystem::exists(file_)) take();
}

PINION_DECL void kept_variables::take() {
  const files::safetensors_reader in(file_);
  const auto note = [&](const std::string& name) {
    const auto at = in.metadata().find(name);
    return at == in.metadata().end() ? std::string() : at->second;
  };
  if (const auto of = note(detail::note_of_task); of != task_)
    throw error(errc::failed_precondition, file_.string() + " has the variables of " + (of.empty() ? "no task" : of) +
                                               ", not of " + task_ + " (server_config.keep)");
  for (const files::stored_tensor& t : in.tensors()) {
    const auto [container, name] = detail::names_of(t.name);
    const auto device = note(detail::note_of_device + t.name);
    devices::device* const at = device.empty() ? of_.devices.front().get() : detail::device_called(of_, device);
    if (!at)
      throw error(errc::failed_precondition, file_.string() + " has variable '" + name + "' of " + device +
                                                 ", which the task has not; start it with that device, or move the "
                                                 "file away to begin without its values");
    const any_tensor value = in.read(t.name);
    const auto made = std::make_shared<state::variable>(
        name, value.dtype(), detail::declared_in(note(detail::note_of_shape + t.name), file_.string()), file_.string());
    if (!device.empty()) made->named_on(device);
    made->assign(at->from_host(value));
    of_.resources.find_or_create(container, name, [&] { return made; });
  }
  std::filesystem::rename(file_, file_.string() + ".taken");
  write_log(log_level::info, task_, fmt::format("took {} variables from {}", in.tensors().size(), file_.string()));
}

PINION_DECL bool kept_variables::write(time_point until) {
  if (file_.empty()) return true;
  written_ = outcome_of([&] { write_all(until); });
  if (written_) return true;
  write_log(log_level::error, task_, "does not keep all of its variables: " + written_.failure()->sentence());
  return written_.failure()->code() != errc::deadline_exceeded;
}

PINION_DECL void kept_variables::expect_written() const {
  if (!written_) throw error(*written_.failure());
}

PINION_DECL void kept_variables::write_all(time_point until) const {
  std::map<std::string, any_tensor> values;
  files::safetensors_options options{.metadata = {{detail::note_of_task, task_}}};
  std::vector<files::tensor_outline> outlines;
  std::vector<std::string> late;
  for (const auto& [container, name, what] : of_.resources.list()) {
    const auto* v = dynamic_cast<const state::variable*>(what.get());
    if (!v) continue;
    const auto now = v->snapshot_by(until);
    if (!now) {
      late.push_back("'" + name + "', of which an update has not ended");
      continue;
    }
    if (!now->value) continue;
    if (v->dtype() == dtype::string) {
      write_log(log_level::warning, task_, "does not keep variable '" + name + "', which is of text");
      continue;
    }
    const auto value = detail::on_host(detail::device_called(of_, now->device), now->value, until);
    if (!value) {
      late.push_back("'" + name + "', which " + now->device + " has not copied to the host");
      continue;
    }
    const std::string called = detail::name_in_file(container, name);
    values[called] = *value;
    outlines.push_back({called, value->dtype(), value->shape()});
    options.metadata[detail::note_of_device + called] = now->device;
    options.metadata[detail::note_of_shape + called] = detail::text_of_declared(v->shape());
  }
  files::safetensors_writer out(file_, std::move(outlines), std::move(options));
  for (const auto& [name, value] : values) out.write(name, value);
  out.commit();
  write_log(log_level::info, task_, fmt::format("keeps {} variables in {}", values.size(), file_.string()));
  if (!late.empty())
    throw error(errc::deadline_exceeded, fmt::format("{} lacks {}", file_.string(), fmt::join(late, "; ")));
}

}}}  // namespace pinion::v0::distributed
