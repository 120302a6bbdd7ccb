// The names of jobs and device types, and an order of names in which numbers count as numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pinion { inline namespace v0 {

// The most characters that a name may have. In bytes; the names have ASCII characters only. They bound the size of a
// device_spec, which holds its texts.
inline constexpr std::size_t max_job_name = 63;
inline constexpr std::size_t max_device_type = 31;

// Properties of characters, independent of the locale.
namespace ascii {

// Bytes above 127 belong to no class, so a UTF-8 letter is none.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
constexpr char to_upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

constexpr bool equal_in_any_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return to_upper(x) == to_upper(y); });
}

// True for a letter, followed by letters, digits and the given marks. Requires nothing of the text; an empty one is
// none.
constexpr bool is_identifier(std::string_view text, std::string_view marks) {
  const auto follows = [marks](char c) { return is_letter(c) || is_digit(c) || marks.find(c) != marks.npos; };
  return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), follows);
}

// The text before the first `mark`, or all of it. It does not use string_view::find, which compares a pointer with
// null: g++ 12 with -fsanitize=undefined does not take that for a constant where the text is a static member of a
// template.
constexpr std::string_view before(std::string_view text, char mark) {
  return text.substr(0, static_cast<std::size_t>(std::find(text.begin(), text.end(), mark) - text.begin()));
}

// The value of a string of digits, limited to 10^12; -1 for any other string.
constexpr std::int64_t decimal(std::string_view text) {
  std::int64_t value = text.empty() ? -1 : 0;
  for (char c : text) {
    if (!is_digit(c)) return -1;
    value = std::min<std::int64_t>(value * 10 + (c - '0'), 1'000'000'000'000);
  }
  return value;
}

}  // namespace ascii

// True for a letter, followed by letters, digits, _ or -; at most 63 characters. TensorFlow's rule, and a limit on the
// length.
constexpr bool is_job_name(std::string_view text) {
  return text.size() <= max_job_name && ascii::is_identifier(text, "_-");
}
// True for a letter, followed by letters, digits or _; at most 31 characters.
constexpr bool is_device_type(std::string_view text) {
  return text.size() <= max_device_type && ascii::is_identifier(text, "_");
}

namespace detail {

// Removes a whole number, or else one character, from the front and returns it. Requires: the text is not empty.
constexpr std::string_view take_token(std::string_view& rest) {
  std::size_t size = 0;
  while (size < rest.size() && ascii::is_digit(rest[size])) ++size;
  const std::string_view token = rest.substr(0, std::max<std::size_t>(size, 1));
  rest.remove_prefix(token.size());
  return token;
}

constexpr std::string_view without_leading_zeros(std::string_view digits) {
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
}

constexpr int compare_tokens(std::string_view a, std::string_view b) {
  if (!ascii::is_digit(a.front()) || !ascii::is_digit(b.front())) return a.compare(b);
  a = without_leading_zeros(a);
  b = without_leading_zeros(b);
  return a.size() == b.size() ? a.compare(b) : a.size() < b.size() ? -1 : 1;
}

}  // namespace detail

// A strict total order of names in which numbers count as numbers: "task:2" is before "task:10". Names that differ only
// in leading zeros are ordered by their characters. Maps of jobs and lists of devices are sorted by it, so that plans
// and messages read in the order that a person expects.
//
//   natural_less("worker2", "worker10")         // true, where "worker2" < "worker10" is false
constexpr bool natural_less(std::string_view a, std::string_view b) {
  std::string_view x = a, y = b;
  while (!x.empty() && !y.empty()) {
    const int order = detail::compare_tokens(detail::take_token(x), detail::take_token(y));
    if (order != 0) return order < 0;
  }
  return x.empty() == y.empty() ? a < b : x.empty();
}

}}  // namespace pinion::v0
