// What a call throws, for tests of errors.
#pragma once

#include <optional>
#include <string>

#include <pinion/base/error.hpp>

// The pn::error that a call ends with; internal, with a sentence that no test expects, where it ends well.
template <class F>
pinion::error caught(F&& call) {
  try {
    call();
  } catch (const pinion::error& e) {
    return e;
  }
  return {pinion::errc::internal, "nothing was thrown"};
}

// "invalid_argument: the sentence", without the culprit.
template <class F>
std::string failure(F&& call) {
  const auto e = caught(call);
  return std::string(to_string(e.code())) + ": " + e.sentence();
}

// "file.cpp:12" of an error, without folders.
inline std::string line_of(const pinion::error& e) {
  return e.location().substr(e.location().find_last_of('/') + 1);
}
inline std::string here(int line, const char* file = __builtin_FILE()) {
  const std::string path = file;
  return path.substr(path.find_last_of('/') + 1) + ":" + std::to_string(line);
}

// "" where a call throws an error of that code whose text has all the parts; what happened instead otherwise.
template <class F, class... S>
std::string refusal(F&& call, pinion::errc code, const S&... parts) {
  const auto e = caught(call);
  const std::string text = e.what();
  const bool says = (... && (text.find(parts) != std::string::npos));
  return e.code() == code && says ? "" : std::string(to_string(e.code())) + ": " + text;
}
