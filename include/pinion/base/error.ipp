// Bodies of <pinion/base/error.hpp>.
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <typeinfo>

#include <pinion/base/dtype.hpp>
#include <pinion/base/error.hpp>
#include <pinion/base/harmless.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL error& error::at_node(std::string_view name, std::string_view op, std::string_view location) & {
  if (node_.empty()) try {
      std::string of_node(name), of_op(op), at(location);
      node_.swap(of_node);
      op_.swap(of_op);
      location_.swap(at);
      render();
    } catch (const std::bad_alloc&) {
    }
  return *this;
}

PINION_DECL error&& error::at_node(std::string_view name, std::string_view op, std::string_view location) && {
  return std::move(at_node(name, op, location));
}

PINION_DECL error& error::fill(std::string& field, std::string_view value) {
  if (field.empty()) try {
      field = value;
      render();
    } catch (const std::bad_alloc&) {
    }
  return *this;
}

namespace detail {
inline constexpr const char* out_of_memory_said = "out of memory";
inline constexpr std::size_t most_shown_of_error = std::size_t{64} << 10;  // it may list what is missing
}  // namespace detail

// What there is no memory for is left out, since an error is often told where memory has run out: no place is added to
// the sentence then.
PINION_DECL void error::render() try {
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
  what_ = harmless(what_, detail::most_shown_of_error);
} catch (const std::bad_alloc&) {
  what_ = detail::out_of_memory_said;
}

namespace detail {

PINION_DECL error out_of_memory() noexcept {
  return error(errc::resource_exhausted, out_of_memory_said);
}

}  // namespace detail

PINION_DECL error as_error(const std::exception& e) {
  if (const auto* own = dynamic_cast<const error*>(&e)) return *own;
  if (dynamic_cast<const std::bad_alloc*>(&e)) return detail::out_of_memory();
  return error(errc::unknown, e.what());
}

}}  // namespace pinion::v0

namespace pinion { inline namespace v0 { namespace detail {

PINION_DECL std::string thrown_type() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (!type) return "of another language";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(type->name(), nullptr, nullptr, &status),
                                                     &std::free);
  return plain ? plain.get() : type->name();
}

PINION_DECL void no_plain_type(dtype type) {
  throw error(errc::invalid_argument, "elements of " + std::string(to_string(type)) +
                                          " are asked for as plain ones, which are float32, float64, int32, int64, "
                                          "uint8 and bool; pn::cast makes them of stored ones");
}

}}}  // namespace pinion::v0::detail

namespace pinion { inline namespace v0 {

namespace detail {

inline error handled_error() {
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

}  // namespace detail

PINION_DECL error current_error() {
  try {
    return detail::handled_error();
  } catch (const std::bad_alloc&) {
    return detail::out_of_memory();
  }
}

}}  // namespace pinion::v0
