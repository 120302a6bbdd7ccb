// The list of checkpoints in a folder: the small text file "checkpoint" beside them, in TensorFlow's form.
//
//   model_checkpoint_path: "model-20"
//   all_model_checkpoint_paths: "model-10"
//   all_model_checkpoint_paths: "model-20"
//
// The first line names the newest checkpoint; the others list all that are kept, oldest first. TensorFlow's lines with
// the times of the checkpoints follow.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace train {

// A checkpoint in the list, by its prefix: the path without ".safetensors". A value.
struct checkpoint_entry {
  std::string prefix;     // relative to the folder of the state file, or absolute
  double written_at = 0;  // seconds since 1970; 0: not known
};

// The checkpoints of a folder, the oldest first. A value.
struct checkpoint_state {
  std::vector<checkpoint_entry> all;
};

namespace detail {

inline constexpr std::string_view state_file = "checkpoint";

// A text in double quotes, with quotes and backslashes escaped.
std::string quoted(const std::string& text);
// Undoes quoted(). A text without quotes is returned as it is.
std::string unquoted(std::string_view text);

}  // namespace detail

// Reads the list of a folder; it is empty if the folder has none. Unknown lines are skipped. The checkpoint of the
// first line is the newest wherever it is among the others, or is not, as in a list that was edited by hand.
checkpoint_state read_checkpoint_state(const std::filesystem::path& folder);

// Replaces the list of a folder atomically. Errors of the disk are those of files::write_file.
void write_checkpoint_state(const std::filesystem::path& folder, const checkpoint_state& state);

// The prefixes of the checkpoints in a folder's list whose files exist, the newest first.
std::vector<std::string> listed_checkpoints(const std::filesystem::path& folder);

// The names of the checkpoints in a folder, without ".safetensors", that its list does not name, in natural order; none
// where there is no such folder.
std::vector<std::string> unlisted_checkpoints(const std::filesystem::path& folder);

// The prefix of the newest checkpoint in a folder's list whose files exist, for saver::restore; empty if there is none.
// Checkpoints whose files were deleted by hand are skipped.
//
//   if (const auto last = tr::latest_checkpoint("logs"); !last.empty()) saver.restore(sess, last);
std::string latest_checkpoint(const std::filesystem::path& folder);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/checkpoint/checkpoint_state.ipp>
#endif
