// IDX files, as MNIST's: one array each, raw or compressed by gzip.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/base/file_path.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace files {

// uint8 as it is (MNIST), also int32, float and double; int8 and int16 are widened to int32. At most 8 dimensions.
// Errors: no such file not_found; a file that is damaged, cut short, too long or no IDX file data_loss; a gzip file
// where pinion was built without zlib unimplemented, with the package to install.
any_tensor read_idx(const file_path& path);

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/idx.ipp>
#endif
