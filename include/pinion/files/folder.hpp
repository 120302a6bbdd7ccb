// Folders that files are written to.
#pragma once

#include <filesystem>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace files {

// With those above it; nothing where it is there, or is the one that the program runs in ("").
void make_folder(const std::filesystem::path& folder);

// Nothing where it is not there.
void remove_file(const std::filesystem::path& file);

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/folder.ipp>
#endif
