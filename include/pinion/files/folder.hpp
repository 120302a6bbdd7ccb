// Folders and files on the disk: looking for them, making and removing them.
#pragma once

#include <filesystem>
#include <memory>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace files {

// True if there is a file or folder at a path. Throws the error that io_failure() makes where the system cannot tell,
// as for a path that is too long.
bool is_there(const std::filesystem::path& path);

// Makes a folder and those above it. Does nothing if it exists already, or for "", the current folder. Throws the error
// that io_failure() makes. The mode of new folders is that of the process (umask).
void make_folder(const std::filesystem::path& folder);

// The path from the root on, so that it means the same when the process has changed its directory; "" stays empty.
// Throws the error that io_failure() makes, where the current directory is gone.
std::filesystem::path absolute_path(const std::filesystem::path& path);

// absolute_path(), with the links of its folders followed, as far as these exist: two paths of one file are equal.
std::filesystem::path resolved(const std::filesystem::path& path);

// Removes a file; does nothing if it does not exist. Throws the error that io_failure() makes.
void remove_file(const std::filesystem::path& file);

// Holds a folder until the result is gone: null where somebody else holds it so, in this process or in another of the
// machine. The system lets go of it when the process ends, however that is. Where the file system holds no folders for
// anybody, everybody gets it. Throws the error that io_failure() makes for a folder that cannot be opened.
std::shared_ptr<const void> hold_folder(const std::filesystem::path& folder);

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/folder.ipp>
#endif
