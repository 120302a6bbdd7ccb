// The name of a file or folder, as functions of pinion take it.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// A path as a text. It is made from a text, a std::filesystem::path or an entry of a folder, so that a header that
// takes one need not include <filesystem>. A value. It does not touch the disk.
class file_path {
 public:
  // These are implicit, so that each of them can be passed where a file_path is wanted.
  file_path(const char* text) : text_(text) {}
  file_path(std::string text) : text_(std::move(text)) {}
  file_path(std::string_view text) : text_(text) {}
  template <class Path>
  requires std::is_same_v<typename Path::string_type, std::string> file_path(const Path& path) : text_(path.native()) {}
  template <class Entry>
  requires requires(const Entry& e) { e.path().native(); }
  file_path(const Entry& entry) : text_(entry.path().native()) {}

  // The path as it was given.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}}  // namespace pinion::v0
