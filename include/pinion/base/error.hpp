// The one error vocabulary, in process and on the wire.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// What went wrong, for a program to decide on. The sentence in error::what() is for a person.
enum class errc : std::uint8_t {
  cancelled = 1,
  unknown,
  invalid_argument,
  deadline_exceeded,
  not_found,
  already_exists,
  permission_denied,
  resource_exhausted,
  failed_precondition,
  aborted,
  out_of_range,
  unimplemented,
  internal,
  unavailable,
  data_loss,
  unauthenticated,
};

constexpr std::string_view to_string(errc code) {
  constexpr std::string_view names[] = {
      "ok",        "cancelled",      "unknown",           "invalid_argument",   "deadline_exceeded",
      "not_found", "already_exists", "permission_denied", "resource_exhausted", "failed_precondition",
      "aborted",   "out_of_range",   "unimplemented",     "internal",           "unavailable",
      "data_loss", "unauthenticated"};
  return names[static_cast<unsigned>(code)];
}

// Everything a caller or the world can get wrong. A value: copyable, owns its texts. It gathers context as it climbs
// (node, device, task, file:line); the first word on each stands, so the innermost culprit is the one named.
class error : public std::exception {
 public:
  error(errc code, std::string sentence) : code_(code), sentence_(std::move(sentence)) { render(); }

  errc code() const { return code_; }
  const std::string& sentence() const { return sentence_; }  // what() without the culprit
  const std::string& node() const { return node_; }
  const std::string& op() const { return op_; }
  const std::string& device() const { return device_; }
  const std::string& task() const { return task_; }
  // "file:line" where the node was made, or of the call if there is no node, or "".
  const std::string& location() const { return location_; }
  const char* what() const noexcept override { return what_.c_str(); }

  error& at_node(std::string_view name, std::string_view op, std::string_view location) &;
  error&& at_node(std::string_view name, std::string_view op, std::string_view location) &&;
  // The user's line of a call, for an error that is about no node.
  error& called_at(std::string_view location) & { return fill(location_, location); }
  error&& called_at(std::string_view location) && { return std::move(called_at(location)); }
  error& on_device(std::string_view device) & { return fill(device_, device); }
  error&& on_device(std::string_view device) && { return std::move(on_device(device)); }
  error& in_task(std::string_view task) & { return fill(task_, task); }
  error&& in_task(std::string_view task) && { return std::move(in_task(task)); }

 private:
  error& fill(std::string& field, std::string_view value);
  void render();

  errc code_;
  std::string sentence_, node_, op_, device_, task_, location_, what_;
};

// What was thrown by somebody else, as an error.
error as_error(const std::exception& e);

namespace detail {
// The type of the exception that is being handled, as a programmer writes it.
std::string thrown_type();
}  // namespace detail

// The exception that is being handled, as an error: users' functions may throw anything, and behind the place where
// they run only errors are known. Text that was thrown is the sentence. Requires: it is called while an exception is
// handled.
error current_error();

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/error.ipp>
#endif
