// Bodies of <pinion/train/checkpoint/checkpoint_state.hpp>.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <pinion/base/error.hpp>
#include <pinion/files/folder.hpp>
#include <pinion/files/input_file.hpp>
#include <pinion/files/output_file.hpp>
#include <pinion/spec/names.hpp>
#include <pinion/train/checkpoint/checkpoint_files.hpp>
#include <pinion/train/checkpoint/checkpoint_state.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '\n' || c == '\r') result += '\\';
    result += c == '\n' ? 'n' : c == '\r' ? 'r' : c;
  }
  return result + '"';
}

// Takes the first character off a text that C escapes, as protobuf does: TensorFlow writes bytes of other letters than
// ASCII's as "\303". Requires: the text is not empty.
inline char next_unescaped(std::string_view& text) {
  const auto take = [&] {
    const char c = text.front();
    text.remove_prefix(1);
    return c;
  };
  const auto is_octal = [&] { return !text.empty() && text.front() >= '0' && text.front() <= '7'; };
  char c = take();
  if (c != '\\' || text.empty()) return c;
  if (!is_octal()) return (c = take()) == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
  unsigned byte = 0;
  for (int digits = 0; digits < 3 && is_octal(); ++digits) byte = byte * 8 + static_cast<unsigned>(take() - '0');
  return static_cast<char>(byte);
}

PINION_DECL std::string unquoted(std::string_view text) {
  const bool is_quoted =
      text.size() >= 2 && text.front() == text.back() && (text.front() == '"' || text.front() == '\'');
  if (!is_quoted) return std::string(text);
  std::string result;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) result += next_unescaped(text);
  return result;
}

inline std::string trimmed(const std::string& text) {
  constexpr const char* blanks = " \t\r";
  const auto from = text.find_first_not_of(blanks);
  return from == text.npos ? "" : text.substr(from, text.find_last_not_of(blanks) + 1 - from);
}

// The text of a list, which people write, too; "" if there is none.
inline std::string text_of_list(const std::filesystem::path& path) {
  constexpr std::uint64_t most = std::uint64_t{16} << 20;
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (!files::is_there(path)) return "";
  const files::input_file file(path);
  if (file.size() > most)
    throw error(errc::data_loss, path.string() + " has more than 16 MiB, and is no list of checkpoints");
  const std::string text = file.whole();
  return text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
}

// Leaves the last of the entries that name one checkpoint.
inline void leave_last_of_each(std::vector<checkpoint_entry>& all) {
  std::set<std::string> seen;
  std::vector<checkpoint_entry> left;
  for (auto e = all.rbegin(); e != all.rend(); ++e)
    if (seen.insert(e->prefix).second) left.push_back(std::move(*e));
  all.assign(std::make_move_iterator(left.rbegin()), std::make_move_iterator(left.rend()));
}

// The name of the checkpoint to which a file belongs that makes it one; "" for others, and for shards.
inline std::string prefix_of(const std::string& file) {
  const auto without = [&](const std::string& end) {
    return file.size() > end.size() && file.ends_with(end) ? file.substr(0, file.size() - end.size()) : "";
  };
  const std::string index = files::shard_index_name(""), whole = files::safetensors_name("");
  if (const std::string name = without(index); !name.empty()) return name;
  const std::string name = without(whole);
  const auto of = name.rfind("-of-");
  const bool is_shard = of != name.npos && name.find_first_not_of("0123456789", of + 4) == name.npos;
  return is_shard ? "" : name;
}

}}}}  // namespace pinion::v0::train::detail

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL checkpoint_state read_checkpoint_state(const std::filesystem::path& folder) {
  checkpoint_state state;
  std::istringstream lines(detail::text_of_list(folder / detail::state_file));
  std::string line;
  std::string newest;
  std::size_t times = 0;
  while (std::getline(lines, line)) {
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string key(detail::trimmed(line.substr(0, colon))), value(detail::trimmed(line.substr(colon + 1)));
    if (key == "model_checkpoint_path") newest = detail::unquoted(value);
    if (key == "all_model_checkpoint_paths") state.all.push_back({detail::unquoted(value)});
    if (key == "all_model_checkpoint_timestamps" && times < state.all.size())
      std::from_chars(value.data(), value.data() + value.size(), state.all[times++].written_at);
  }
  detail::leave_last_of_each(state.all);
  const auto at = std::find_if(state.all.begin(), state.all.end(), [&](const auto& e) { return e.prefix == newest; });
  if (at != state.all.end())
    std::rotate(at, at + 1, state.all.end());
  else if (!newest.empty())
    state.all.push_back({newest});
  return state;
}

PINION_DECL void write_checkpoint_state(const std::filesystem::path& folder, const checkpoint_state& state) {
  std::string text;
  if (!state.all.empty()) text += "model_checkpoint_path: " + detail::quoted(state.all.back().prefix) + "\n";
  for (const checkpoint_entry& e : state.all) text += "all_model_checkpoint_paths: " + detail::quoted(e.prefix) + "\n";
  for (const checkpoint_entry& e : state.all)
    text += fmt::format("all_model_checkpoint_timestamps: {:.17g}\n", e.written_at);
  files::write_file(folder / detail::state_file, text);
}

PINION_DECL std::vector<std::string> listed_checkpoints(const std::filesystem::path& folder) {
  const checkpoint_state state = read_checkpoint_state(folder);
  std::vector<std::string> there;
  for (auto e = state.all.rbegin(); e != state.all.rend(); ++e)
    if (const std::string prefix = (folder / e->prefix).string(); checkpoint_files(prefix).exist())
      there.push_back(prefix);
  return there;
}

PINION_DECL std::vector<std::string> unlisted_checkpoints(const std::filesystem::path& folder) {
  const checkpoint_state state = read_checkpoint_state(folder);
  std::set<std::string> names;
  std::error_code none;
  using entries = std::filesystem::directory_iterator;
  for (entries file(folder, none), end; !none && file != end; file.increment(none))
    if (const std::string prefix = detail::prefix_of(file->path().filename().string()); !prefix.empty())
      names.insert(prefix);
  for (const checkpoint_entry& e : state.all) names.erase(std::filesystem::path(e.prefix).filename().string());
  std::vector<std::string> all(names.begin(), names.end());
  std::sort(all.begin(), all.end(), natural_less);
  return all;
}

PINION_DECL std::string latest_checkpoint(const std::filesystem::path& folder) {
  const auto all = listed_checkpoints(folder);
  return all.empty() ? "" : all.front();
}

}}}  // namespace pinion::v0::train
