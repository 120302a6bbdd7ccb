// The four MNIST files of a folder, each raw or compressed by gzip, as digits; distrusts what they say.
#pragma once

#include "digits.hpp"

#include <pinion/base/error.hpp>
#include <pinion/files/idx.hpp>

#include <filesystem>

namespace mnist {

namespace detail {

using pinion::errc;
using pinion::error;

// The distributed names end in "-idx3-ubyte" or ".idx3-ubyte", with or without ".gz".
inline std::filesystem::path find_file(const std::filesystem::path& dir, const std::string& stem,
                                       const std::string& kind) {
  for (const char* joint : {"-", "."}) {
    for (const char* end : {"", ".gz"}) {
      const auto path = dir / (stem + joint + kind + end);
      if (std::filesystem::is_regular_file(path)) return path;
    }
  }
  throw error(errc::not_found,
              "there is no " + stem + "-" + kind + " (or ." + kind + ", each also .gz) in " + dir.string());
}

inline pinion::any_tensor read_bytes(const std::filesystem::path& path, int rank) {
  auto content = pinion::files::read_idx(path);
  if (content.dtype() != pinion::dtype::uint8 || content.shape().rank() != rank) {
    throw error(errc::data_loss,
                path.string() + " is no IDX file of unsigned bytes with " + std::to_string(rank) + " dimension(s)");
  }
  return content;
}

inline digits load_half(const std::filesystem::path& dir, const std::string& stem) {
  const auto images_path = find_file(dir, stem + "-images", "idx3-ubyte");
  const auto labels_path = find_file(dir, stem + "-labels", "idx1-ubyte");
  const auto images = read_bytes(images_path, 3), labels = read_bytes(labels_path, 1);
  const auto extent = images.shape();
  const auto count = static_cast<std::size_t>(extent[0]);

  if (extent[1] != side || extent[2] != side) {
    throw error(errc::data_loss, images_path.string() + " has images of " + std::to_string(extent[1]) + " x " +
                                     std::to_string(extent[2]) + " pixels, not 28 x 28");
  }
  if (labels.shape()[0] != extent[0]) {
    throw error(errc::data_loss, images_path.string() + " has " + std::to_string(count) + " images, but " +
                                     labels_path.string() + " has " + std::to_string(labels.shape()[0]) + " labels");
  }
  digits result{std::vector<float>(count * pixels), std::vector<std::int32_t>(count), count};
  const auto* ink = images.data<std::uint8_t>();
  for (std::size_t i = 0; i < count * pixels; ++i) result.images[i] = static_cast<float>(ink[i]) / 255;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t label = labels.data<std::uint8_t>()[i];
    if (label > 9) throw error(errc::data_loss, labels_path.string() + " has the label " + std::to_string(label));
    result.labels[i] = label;
  }
  return result;
}

}  // namespace detail

// The digits in the files of a folder. A missing folder or file is not_found; a file that is damaged, cut short or not
// what its name says is data_loss.
inline dataset load(const std::string& dir) {
  if (!std::filesystem::is_directory(dir)) throw pinion::error(pinion::errc::not_found, "there is no folder " + dir);
  return {detail::load_half(dir, "train"), detail::load_half(dir, "t10k"), "MNIST in " + dir};
}

}  // namespace mnist
