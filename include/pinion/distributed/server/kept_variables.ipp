// Bodies of <pinion/distributed/server/kept_variables.hpp>.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <pinion/base/countdown.hpp>
#include <pinion/base/log.hpp>
#include <pinion/distributed/server/kept_file.hpp>
#include <pinion/distributed/server/kept_variables.hpp>
#include <pinion/files/folder.hpp>
#include <pinion/files/output_file.hpp>
#include <pinion/runtime/task.hpp>
#include <pinion/state/variable.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

namespace detail {

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

// The first of them, and how many more there are: there may be as many as a client likes.
inline std::string first_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  const auto shown = std::min(names.size(), most);
  const std::string more = names.size() > shown ? fmt::format("; and {} more", names.size() - shown) : "";
  return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), "; "), more);
}

}  // namespace detail

PINION_DECL kept_variables::kept_variables(runtime::task& of, std::string task, std::filesystem::path file)
    : of_(of), task_(std::move(task)), file_(files::absolute_path(file)) {
  if (file_.empty()) return;
  const auto folder = file_.parent_path();
  if (!std::filesystem::is_directory(folder))
    throw error(errc::not_found, task_ + " is to keep its variables in " + file_.string() + ", but " + folder.string() +
                                     " is no folder (server_config.keep)");
  const files::output_file writable(file_, files::readers::owner);  // proves it; nothing is committed
  std::error_code unknown;
  if (std::filesystem::is_directory(taken(), unknown))
    throw error(errc::failed_precondition, task_ + " is to put " + file_.string() + " away as " + taken().string() +
                                               ", and that is a folder (server_config.keep)");
  has_file_ = files::is_there(file_);
  if (has_file_) take();
}

PINION_DECL void kept_variables::settle() {
  if (file_.empty()) return;
  if (std::exchange(has_file_, false)) {
    std::error_code failed;
    // A file without variables takes the place of none that has some.
    variables_ > 0 ? std::filesystem::rename(file_, taken(), failed) : files::remove_file(file_);
    if (failed)
      throw error(errc::failed_precondition, task_ + " cannot put " + file_.string() + " away as " + taken().string() +
                                                 ": " + failed.message() + " (server_config.keep)");
    write_log(log_level::info, task_, fmt::format("took {} variables from {}", variables_, file_.string()));
  } else if (files::is_there(taken())) {
    write_log(log_level::warning, task_,
              fmt::format("begins without variables: {} is not there; {} has those with which an earlier life began",
                          file_.string(), taken().string()));
  }
}

PINION_DECL std::filesystem::path kept_variables::taken() const {
  return file_.string() + ".taken";
}

PINION_DECL void kept_variables::take() {
  const kept_file in(file_);
  if (const auto of = in.task(); of != task_)
    throw error(errc::failed_precondition, file_.string() + " has the variables of " + (of.empty() ? "no task" : of) +
                                               ", not of " + task_ + " (server_config.keep)");
  in.for_each([&](const kept_variable& v) {
    if (const auto taken = outcome_of([&] { take(v); }); !taken)
      throw error(taken.failure()->code(), file_.string() + " has variable '" + v.name + "', which " + task_ +
                                               " does not take: " + taken.failure()->sentence());
    ++variables_;
  });
}

PINION_DECL void kept_variables::take(const kept_variable& v) {
  devices::device* const at = v.device.empty() ? of_.devices.front().get() : detail::device_called(of_, v.device);
  if (!at)
    throw error(errc::failed_precondition, "it is of " + v.device +
                                               ", which the task has not; start it with that "
                                               "device, or move the file away to begin without its values");
  const auto made = std::make_shared<state::variable>(v.name, v.value.dtype(), v.declared, file_.string());
  if (!v.device.empty()) made->named_on(v.device);
  made->assign(at->from_host(v.value));
  of_.resources.find_or_create(v.container, v.name, [&] { return made; });
}

PINION_DECL bool kept_variables::write(time_point until) {
  if (file_.empty()) return true;
  written_ = outcome_of([&] { write_all(until); });
  if (written_) return true;
  const bool lacks_some = written_.failure()->code() == errc::deadline_exceeded;
  write_log(log_level::error, task_,
            (lacks_some ? "does not keep all of its variables: " : "keeps none of its variables: ") +
                written_.failure()->sentence());
  return !lacks_some;
}

PINION_DECL void kept_variables::expect_written() const {
  if (!written_) throw error(*written_.failure());
}

PINION_DECL void kept_variables::write_all(time_point until) const {
  std::vector<kept_variable> kept;
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
    auto value = detail::on_host(detail::device_called(of_, now->device), now->value, until);
    if (!value) {
      late.push_back("'" + name + "', which " + now->device + " has not copied to the host");
      continue;
    }
    kept.push_back({container, name, now->device, v->shape(), std::move(*value)});
  }
  write_kept_file(file_, task_, kept);
  write_log(log_level::info, task_, fmt::format("keeps {} variables in {}", kept.size(), file_.string()));
  if (!late.empty()) throw error(errc::deadline_exceeded, file_.string() + " lacks " + detail::first_of(late));
}

}}}  // namespace pinion::v0::distributed
