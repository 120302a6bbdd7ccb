// Bodies of <pinion/train/checkpoint/checkpoint_state.hpp>.
#pragma once

#include <charconv>
#include <fstream>

#include <fmt/format.h>

#include <pinion/files/output_file.hpp>
#include <pinion/train/checkpoint/checkpoint_files.hpp>
#include <pinion/train/checkpoint/checkpoint_state.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

PINION_DECL std::string unquoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::string(text);
  std::string result;
  text = text.substr(1, text.size() - 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    result += text[i];
  }
  return result;
}

}}}}  // namespace pinion::v0::train::detail

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL checkpoint_state read_checkpoint_state(const std::filesystem::path& folder) {
  checkpoint_state state;
  std::ifstream file(folder / detail::state_file);
  std::string line;
  std::size_t times = 0;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(": ");
    if (colon == line.npos) continue;
    const std::string key = line.substr(0, colon), value = line.substr(colon + 2);
    if (key == "all_model_checkpoint_paths") state.all.push_back({detail::unquoted(value)});
    if (key == "all_model_checkpoint_timestamps" && times < state.all.size())
      std::from_chars(value.data(), value.data() + value.size(), state.all[times++].written_at);
  }
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

PINION_DECL std::string latest_checkpoint(const std::filesystem::path& folder) {
  const checkpoint_state state = read_checkpoint_state(folder);
  for (auto e = state.all.rbegin(); e != state.all.rend(); ++e) {
    const std::string prefix = (folder / e->prefix).string();
    if (checkpoint_files(prefix).exist()) return prefix;
  }
  return {};
}

}}}  // namespace pinion::v0::train
