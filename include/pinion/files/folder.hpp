// Folders and files on the disk: looking for them, making and removing them.
#pragma once

#include <filesystem>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace files {

// True if there is a file or folder at a path. Throws the error that io_failure() makes where the system cannot tell,
// as for a path that is too long.
bool is_there(const std::filesystem::path& path);

// Makes a folder and those above it. Does nothing if it exists already, or for "", the current folder. Throws the error
// that io_failure() makes. The mode of new folders is that of the process (umask).
void make_folder(const std::filesystem::path& folder);

// Removes a file; does nothing if it does not exist. Throws the error that io_failure() makes.
void remove_file(const std::filesystem::path& file);

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/folder.ipp>
#endif
