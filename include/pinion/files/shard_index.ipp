// Bodies of <pinion/files/shard_index.hpp>.
#pragma once

#include <filesystem>

#include <fmt/format.h>

#include <pinion/base/error.hpp>
#include <pinion/files/config.hpp>
#include <pinion/files/input_file.hpp>
#include <pinion/files/output_file.hpp>
#include <pinion/files/safetensors_header.hpp>
#include <pinion/files/shard_index.hpp>

#if PINION_HAS_JSON
#include <set>
#include <vector>

#include <nlohmann/json.hpp>
#endif
namespace pinion { inline namespace v0 { namespace files {

PINION_DECL std::string safetensors_name(const std::string& stem) {
  return stem + ".safetensors";
}

PINION_DECL std::string shard_index_name(const std::string& stem) {
  return safetensors_name(stem) + ".index.json";
}

PINION_DECL std::string shard_name(const std::string& stem, std::size_t shard, std::size_t shards) {
  return safetensors_name(fmt::format("{}-{:05}-of-{:05}", stem, shard + 1, shards));
}

#if PINION_HAS_JSON
namespace detail {

// True for a file name that does not leave the folder. Only the text is judged: a symbolic link may lead anywhere.
inline bool stays_inside(const std::string& shard) {
  if (shard.empty() || shard.find('\0') != std::string::npos || shard.find('\\') != std::string::npos) return false;
  const std::filesystem::path path(shard);
  if (path.is_absolute() || !path.has_filename()) return false;
  for (const auto& part : path)
    if (part == ".." || part == ".") return false;
  return true;
}

// Parses JSON in which no object has a name twice and nothing nests deeper than 8 levels.
inline nlohmann::json parse_strictly(const std::string& text, const std::string& file) {
  std::vector<std::set<std::string>> open;
  const auto check = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    using seen = nlohmann::json::parse_event_t;
    if (depth > 8) throw error(errc::data_loss, file + " nests too deep");
    if (event == seen::object_start) open.emplace_back();
    if (event == seen::object_end) open.pop_back();
    if (event == seen::key && !open.back().insert(value.get<std::string>()).second)
      throw error(errc::data_loss, file + " has the name '" + value.get<std::string>() + "' twice");
    return true;
  };
  try {
    return nlohmann::json::parse(text, check);
  } catch (const nlohmann::json::exception& e) {
    throw error(errc::data_loss, file + " is no JSON: " + e.what());
  }
}

}  // namespace detail

PINION_DECL shard_index read_shard_index(const file_path& path) {
  const input_file file(path);
  const auto refuse = [&](const std::string& why) { throw error(errc::data_loss, path.text() + " " + why); };
  if (file.size() > longest_safetensors_header) refuse("is too long for an index of safetensors files");
  const std::string text = file.whole();
  if (text.find('\0') != std::string::npos) refuse("is no JSON: it holds a NUL");
  const nlohmann::json json = detail::parse_strictly(text, path.text());
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
    refuse("is no index of safetensors files: it has no weight_map");
  shard_index index;
  for (const auto& [tensor, shard] : json["weight_map"].items()) {
    if (!shard.is_string()) refuse("says no file for tensor '" + tensor + "'");
    const std::string& name = shard.get_ref<const std::string&>();
    if (!detail::stays_inside(name)) refuse("says the file '" + name + "', which is not in its own folder");
    index.weight_map.emplace(tensor, name);
  }
  const nlohmann::json about = json.value("metadata", nlohmann::json::object());
  if (about.is_object() && about.contains("total_size") && about["total_size"].is_number_unsigned())
    index.total_size = about["total_size"].get<std::uint64_t>();
  return index;
}

PINION_DECL void write_shard_index(const file_path& path, const shard_index& index) {
  for (const auto& [tensor, shard] : index.weight_map)
    if (!detail::stays_inside(shard))
      throw error(errc::invalid_argument,
                  "the file '" + shard + "' of tensor '" + tensor + "' is not in the folder of " + path.text());
  const nlohmann::json json{{"metadata", {{"total_size", index.total_size}}}, {"weight_map", index.weight_map}};
  std::string text;
  try {
    text = json.dump(2) + "\n";
  } catch (const nlohmann::json::exception&) {
    throw error(errc::invalid_argument, "a name in the index " + path.text() + " is not UTF-8");
  }
  write_file(path, text);
}
#else
PINION_DECL shard_index read_shard_index(const file_path& path) {
  detail::say_without_json("to read " + path.text());
}
PINION_DECL void write_shard_index(const file_path& path, const shard_index&) {
  detail::say_without_json("to write " + path.text());
}
#endif

}}}  // namespace pinion::v0::files
