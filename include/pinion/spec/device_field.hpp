// The fields of a device spec: how a name or a number is stored, checked and refused.
#pragma once

#include <cstddef>
#include <limits>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/base/source_location.hpp>
#include <pinion/spec/names.hpp>

namespace pinion { inline namespace v0 {

// A short text inside of its object, so that types that hold one can be template arguments. The bytes behind the text
// are zeros. A longer text is cut off. Two of them are equal where their texts are. `view` refers to the object.
template <std::size_t Capacity>
struct short_text {
  char s[Capacity + 1]{};

  constexpr short_text() = default;
  explicit constexpr short_text(std::string_view text) { text.copy(s, Capacity); }
  constexpr std::string_view view() const { return s; }
  friend constexpr bool operator==(const short_text&, const short_text&) = default;
};

// The place where reading a device string stopped. `text` is empty when a field was set by a call; `where` is the
// user's line with the string, if it is known. The sentence quotes `found`, within `segment`, within `text`.
struct device_culprit {
  std::string_view text, segment, found;
  source_location where = {};
};

// One function for each kind of mistake in a device string. They are not constexpr on purpose: at run time they throw
// invalid_argument with the sentence; in a constant expression the compiler stops at the call, shows the line with the
// sentence, and names the function. A new kind of mistake gets a function of its own here, because the function's name
// is what compilers print.
struct bad_device {
  using culprit = const device_culprit&;
  using sentence = std::string_view;

  [[noreturn]] static void unknown_field(culprit at, sentence why);
  [[noreturn]] static void missing_value(culprit at, sentence why) { refuse(at, why); }
  [[noreturn]] static void too_many_parts(culprit at, sentence why) { refuse(at, why); }
  [[noreturn]] static void bad_job_name(culprit at, sentence why) { refuse(at, why); }
  [[noreturn]] static void bad_device_type(culprit at, sentence why) { refuse(at, why); }
  [[noreturn]] static void name_too_long(culprit at, sentence why) { refuse(at, why); }
  [[noreturn]] static void bad_number(culprit at, sentence why) { refuse(at, why); }
  [[noreturn]] static void number_out_of_range(culprit at, sentence why) { refuse(at, why); }
  [[noreturn]] static void type_given_twice(culprit at, sentence why) { refuse(at, why); }
  [[noreturn]] static void index_without_type(culprit at, sentence why) { refuse(at, why); }
  [[noreturn]] static void blank_in_string(culprit at, sentence why) { refuse(at, why); }

  // Refuses a number that was set by a call.
  [[noreturn]] static void number_out_of_range(int number, sentence why) { refuse(number, why); }
  [[noreturn]] static void index_without_type(int number, sentence why) { refuse(number, why); }

 private:
  [[noreturn]] static void refuse(culprit at, sentence why);
  [[noreturn]] static void refuse(int number, sentence why);
};

// Reads the text of a value; "*" is the unset value. A bad text is refused by bad_device. These are called by the
// reader of device strings and by the with_ functions of device_spec.
namespace device_field {

using job_name = short_text<max_job_name>;
using device_type = short_text<max_device_type>;

// Case counts in the names of jobs.
constexpr job_name read_job(std::string_view value, device_culprit at) {
  at.found = value;
  if (value == "*") return {};
  if (value.empty()) bad_device::missing_value(at, "missing value; write job:NAME, or job:* for any");
  if (value.size() > max_job_name) bad_device::name_too_long(at, "name too long; a job has at most 63 characters");
  if (!is_job_name(value)) bad_device::bad_job_name(at, "bad job name; a letter, then letters, digits, _ or -");
  return job_name(value);
}

// Types are kept in upper case, so that "gpu" and "GPU" are one type.
constexpr device_type read_type(std::string_view value, device_culprit at) {
  at.found = value;
  if (value == "*") return {};
  if (value.empty()) bad_device::missing_value(at, "missing value; write device:TYPE or device:TYPE:N");
  if (value.size() > max_device_type) bad_device::name_too_long(at, "name too long; a type has at most 31 characters");
  if (!is_device_type(value)) bad_device::bad_device_type(at, "bad device type; a letter, then letters, digits or _");
  device_type type(value);
  for (char& c : type.s) c = ascii::to_upper(c);
  return type;
}

// Leading zeros are allowed: "01" is 1.
constexpr int read_number(std::string_view value, device_culprit at) {
  at.found = value;
  if (value == "*") return -1;
  if (value.empty()) bad_device::missing_value(at, "missing value; write a number after the colon, or * for any");
  const bool negative = value.front() == '-' && ascii::decimal(value.substr(1)) >= 0;
  const auto number = ascii::decimal(value);
  if (negative || number > std::numeric_limits<int>::max())
    bad_device::number_out_of_range(at, "number out of range; write a number from 0 to 2147483647");
  if (number < 0) bad_device::bad_number(at, "bad number; write digits only, from 0 to 2147483647, or * for any");
  return static_cast<int>(number);
}

// Checks a number that was set by a call; -1 is the unset value.
constexpr int checked(int number) {
  if (number < -1) bad_device::number_out_of_range(number, "number out of range; 0 to 2147483647, or -1 to unset it");
  return number;
}

}  // namespace device_field

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/spec/device_field.ipp>
#endif
