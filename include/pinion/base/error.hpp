// The one error vocabulary, in process and on the wire.
#pragma once

#include <cxxabi.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

#include <pinion/base/source_location.hpp>

namespace pinion::inline v0 {

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

  error& at_node(std::string_view name, std::string_view op, std::string_view location) & {
    if (node_.empty()) {
      node_ = name;
      op_ = op;
      location_ = location;
      render();
    }
    return *this;
  }
  error&& at_node(std::string_view name, std::string_view op, std::string_view location) && {
    return std::move(at_node(name, op, location));
  }
  // The user's line of a call, for an error that is about no node.
  error& called_at(std::string_view location) & { return fill(location_, location); }
  error&& called_at(std::string_view location) && { return std::move(called_at(location)); }
  error& on_device(std::string_view device) & { return fill(device_, device); }
  error&& on_device(std::string_view device) && { return std::move(on_device(device)); }
  error& in_task(std::string_view task) & { return fill(task_, task); }
  error&& in_task(std::string_view task) && { return std::move(in_task(task)); }

 private:
  error& fill(std::string& field, std::string_view value) {
    if (field.empty()) {
      field = value;
      render();
    }
    return *this;
  }
  void render() {
    what_ = sentence_;
    std::string culprit;
    const auto add = [&](std::string_view lead, std::string_view text) {
      if (!text.empty()) culprit.append(culprit.empty() ? "" : ", ").append(lead).append(text);
    };
    if (!node_.empty()) add("node ", "'" + node_ + "'" + (op_.empty() ? "" : " (" + op_ + ")"));
    add(node_.empty() ? "at " : "made at ", location_);
    add("on ", device_);
    add("in task ", task_);
    if (!culprit.empty()) what_ += " [" + culprit + "]";
  }

  errc code_;
  std::string sentence_, node_, op_, device_, task_, location_, what_;
};

// What was thrown by somebody else, as an error.
inline error as_error(const std::exception& e) {
  if (const auto* own = dynamic_cast<const error*>(&e)) return *own;
  if (dynamic_cast<const std::bad_alloc*>(&e)) return error(errc::resource_exhausted, "out of memory");
  return error(errc::unknown, e.what());
}

namespace detail {
// The type of the exception that is being handled, as a programmer writes it.
inline std::string thrown_type() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (!type) return "of another language";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(type->name(), nullptr, nullptr, &status),
                                                     &std::free);
  return plain ? plain.get() : type->name();
}
}  // namespace detail

// The exception that is being handled, as an error: users' functions may throw anything, and behind the place where
// they run only errors are known. Text that was thrown is the sentence. Requires: it is called while an exception is handled.
inline error current_error() {
  try {
    throw;
  } catch (const std::exception& e) {
    return as_error(e);
  } catch (const char* text) {
    return error(errc::unknown, text ? text : "a null pointer was thrown");
  } catch (const std::string& text) {
    return error(errc::unknown, text);
  } catch (...) {
    return error(errc::unknown, "something that is no std::exception was thrown, of type " + detail::thrown_type());
  }
}

}  // namespace pinion::inline v0
