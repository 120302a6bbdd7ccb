// IDX files, the format of MNIST: one array in a file, raw or compressed by gzip.
//
//   pn::tensor<std::uint8_t> images{pn::files::read_idx("train-images-idx3-ubyte.gz")};      // [60000, 28, 28]
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/base/file_path.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace files {

// Reads the array of a file: uint8 (MNIST), int8, int16, int32, float or double. It has 1 to 8 dimensions. Errors:
// not_found, there is no such file; data_loss, the file is damaged, cut short, too long or no IDX file; unimplemented,
// a gzip file where pinion was built without zlib (the sentence names the package to install). The result has the dtype
// and shape that the file's header says: check them, as tensor<T>'s constructor does. A file is taken for a compressed
// one by its first bytes, not by its name.
any_tensor read_idx(const file_path& path);

}}}  // namespace pinion::v0::files

#if PINION_HEADER_ONLY
#include <pinion/files/idx.ipp>
#endif
