// The error of pinion: one vocabulary of codes, the same in a process and on the wire.
//
//   try {
//     sess.run(train);
//   } catch (const pn::error& e) {
//     if (e.code() == pn::errc::invalid_argument) std::cerr << e.what();  // the sentence, with node, device and task
//   }
//
// The text of what() ends with the place of the error, as far as it is known:
//
//   ... [node 'mul' (Mul), made at train.cpp:12, on /job:ps/replica:0/task:0/device:CPU:0, in task /job:ps/task:0]
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// The kind of an error, for a program to decide on; the sentence in error::what() is for a person. These are the codes
// of gRPC and of TensorFlow.
enum class errc : std::uint8_t {
  // A step was cancelled, a session or connection was closed while it was used, or a queue was closed with its pending
  // operations.
  cancelled = 1,
  // An exception of user code, or an error that fits no other code.
  unknown,
  // The caller gave a wrong value: a bad spec, a placeholder without a feed, a feed that does not fit, a device that
  // does not exist, a shape or dtype that clashes.
  invalid_argument,
  // Time ran out: the operation_timeout of a session, the max_wait of a monitored one, or the grace period of threads.
  deadline_exceeded,
  // There is no such file, name, job or slot.
  not_found,
  // There is one of that name, or at that address, already.
  already_exists,
  // The file system does not allow it, or a server does not allow it to this client.
  permission_denied,
  // Memory, disk, threads or another limited good has run out.
  resource_exhausted,
  // The state does not allow it now: a variable is not initialised, a session or writer is closed.
  failed_precondition,
  // A peer has restarted and has lost the state that the request was about; a new session may succeed.
  aborted,
  // The end of the input: a queue is closed and empty, or an index is outside of its range.
  out_of_range,
  // This build, device or format does not have it.
  unimplemented,
  // A promise that the library made to itself is broken.
  internal,
  // A peer is dead or cannot be reached; it may come back.
  unavailable,
  // A file or message is damaged.
  data_loss,
  // The key or certificate of a peer is wrong.
  unauthenticated,
};

// The name of a code, such as "invalid_argument".
constexpr std::string_view to_string(errc code) {
  constexpr std::string_view names[] = {
      "ok",        "cancelled",      "unknown",           "invalid_argument",   "deadline_exceeded",
      "not_found", "already_exists", "permission_denied", "resource_exhausted", "failed_precondition",
      "aborted",   "out_of_range",   "unimplemented",     "internal",           "unavailable",
      "data_loss", "unauthenticated"};
  return names[static_cast<unsigned>(code)];
}

// An error: everything that a caller or the world can get wrong is thrown as one. A value that owns its texts; distinct
// objects may be used from distinct threads. It gathers context on its way up: node, device, task and the line where
// the node was made. The first text that is given for each stays, so the innermost culprit is named. An error of a
// remote task arrives at the client as the same object, with that task named. Catch it by reference, decide by code(),
// and show what():
//
//   } catch (const pn::error& e) {
//     if (e.code() == pn::errc::unavailable) return try_again();
//     fmt::print(stderr, "{}\n", e.what());
//   }
class error : public std::exception {
 public:
  // `sentence` is a full sentence: it tells the culprit, what was expected, what was found, and what would work.
  error(errc code, std::string sentence) : code_(code), sentence_(std::move(sentence)) { render(); }

  // The kind of the error.
  errc code() const { return code_; }
  // The sentence alone: what() without node, device and task.
  const std::string& sentence() const { return sentence_; }
  // The name of the node that failed, or "".
  const std::string& node() const { return node_; }
  // The op of that node, or "".
  const std::string& op() const { return op_; }
  // The full name of the device that the node ran on, or "".
  const std::string& device() const { return device_; }
  // The name of the task that the error comes from, or "".
  const std::string& task() const { return task_; }
  // The line "file:line" of the user's program where the node was made, or of the call if there is no node; "" if
  // neither is known.
  const std::string& location() const { return location_; }
  // The sentence and, in brackets, node, location, device and task as far as they are known. It is for people, and so
  // made harmless (see harmless()): a sentence may hold what a stranger has sent. The other texts are as they were.
  const char* what() const noexcept override { return what_.c_str(); }

  // Names the node. Does nothing if one is named.
  error& at_node(std::string_view name, std::string_view op, std::string_view location) &;
  error&& at_node(std::string_view name, std::string_view op, std::string_view location) &&;
  // Names the user's line of a call, for an error that is not about a node. Does nothing if a line is named.
  error& called_at(std::string_view location) & { return fill(location_, location); }
  error&& called_at(std::string_view location) && { return std::move(called_at(location)); }
  // Names the device. Does nothing if one is named.
  error& on_device(std::string_view device) & { return fill(device_, device); }
  error&& on_device(std::string_view device) && { return std::move(on_device(device)); }
  // Names the task. Does nothing if one is named.
  error& in_task(std::string_view task) & { return fill(task_, task); }
  error&& in_task(std::string_view task) && { return std::move(in_task(task)); }

 private:
  // Sets a field, unless it has a text.
  error& fill(std::string& field, std::string_view value);
  // Builds the text of what().
  void render();

  errc code_;
  std::string sentence_, node_, op_, device_, task_, location_, what_;
};

// Makes an error of an exception: an error stays as it is, std::bad_alloc becomes resource_exhausted, and any other
// exception becomes unknown with its text.
error as_error(const std::exception& e);

namespace detail {
// The name of the type of the exception that is being handled, as a programmer writes it.
std::string thrown_type();
// The error that is told where memory has run out. To make it takes none, since its text is short.
error out_of_memory() noexcept;
}  // namespace detail

// The exception that is being handled, as an error. User code may throw anything, and the library passes on errors
// only. A text that was thrown becomes the sentence. Requires: it is called while an exception is handled.
//
//   try { work(); } catch (...) { const pn::error e = pn::current_error(); log(e.what()); }
error current_error();

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/error.ipp>
#endif
