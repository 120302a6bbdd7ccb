// Which checkpoints there are: the small text file "checkpoint" beside them, as TensorFlow writes it.
//
//   model_checkpoint_path: "model-20"
//   all_model_checkpoint_paths: "model-10"
//   all_model_checkpoint_paths: "model-20"
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace train {

// A checkpoint that was written, by its prefix: the path without ".safetensors".
struct checkpoint_entry {
  std::string prefix;     // relative to the folder of the state file, or absolute
  double written_at = 0;  // seconds since 1970; 0: not known
};

// A value: oldest first.
struct checkpoint_state {
  std::vector<checkpoint_entry> all;
};

namespace detail {

inline constexpr std::string_view state_file = "checkpoint";

std::string quoted(const std::string& text);
// What stands between quotes; as it is where there are none.
std::string unquoted(std::string_view text);

}  // namespace detail

// That of a folder; empty where there is none. Lines that it does not know are skipped.
checkpoint_state read_checkpoint_state(const std::filesystem::path& folder);

// Replaces it, whole.
void write_checkpoint_state(const std::filesystem::path& folder, const checkpoint_state& state);

// The prefix of the newest checkpoint of a folder that is there, to be restored; empty where there is none.
std::string latest_checkpoint(const std::filesystem::path& folder);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/checkpoint/checkpoint_state.ipp>
#endif
