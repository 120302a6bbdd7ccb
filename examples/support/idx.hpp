// Reads the four MNIST files, each raw or compressed by gzip, and distrusts what they say.
#pragma once

#include "digits.hpp"

#include <pinion/base/error.hpp>

#include <zlib.h>

#include <array>
#include <filesystem>
#include <memory>

namespace mnist {

namespace detail {

using pinion::errc;
using pinion::error;
using bytes = std::vector<std::uint8_t>;

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

// The content after gunzip; zlib passes a raw file through. It grows with what is there, not with what a header claims.
inline bytes read_all(const std::filesystem::path& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file{gzopen(path.c_str(), "rb"), gzclose_r};
  if (!file) throw error(errc::permission_denied, "cannot open " + path.string());
  bytes content;
  std::vector<std::uint8_t> chunk(1 << 20);
  int got = 0;
  while ((got = gzread(file.get(), chunk.data(), static_cast<unsigned>(chunk.size()))) > 0) {
    content.insert(content.end(), chunk.begin(), chunk.begin() + got);
  }
  int status = Z_OK;
  const char* why = gzerror(file.get(), &status);
  if (status != Z_OK) throw error(errc::data_loss, path.string() + " is damaged or cut short: " + why);
  return content;
}

// An IDX file of bytes: two zeros, 8 (unsigned byte), the rank, each dimension big-endian in four bytes, the items.
struct idx {
  bytes content;
  std::vector<std::size_t> shape;
  const std::uint8_t* items() const { return content.data() + 4 + 4 * shape.size(); }
};

inline idx read_idx(const std::filesystem::path& path, std::uint8_t rank) {
  idx file{read_all(path), {}};
  const bytes& b = file.content;
  const std::size_t header = 4 + 4 * std::size_t{rank};
  const auto refuse = [&](const std::string& why) { throw error(errc::data_loss, path.string() + " " + why); };

  if (b.size() < header) refuse("is cut short: " + std::to_string(b.size()) + " bytes do not hold its header");
  if (b[0] != 0 || b[1] != 0 || b[2] != 8 || b[3] != rank) {
    refuse("is no IDX file of unsigned bytes with " + std::to_string(rank) + " dimension(s)");
  }
  std::size_t items = 1;
  for (std::size_t at = 4; at < header; at += 4) {
    const std::size_t n =
        std::size_t{b[at]} << 24 | std::size_t{b[at + 1]} << 16 | std::size_t{b[at + 2]} << 8 | b[at + 3];
    file.shape.push_back(n);
    items = n != 0 && items > b.size() / n ? b.size() : items * n;  // more than there is: the exact number is no matter
  }
  if (b.size() - header < items) {
    refuse("is cut short: it announces more items than the " + std::to_string(b.size() - header) + " it has");
  }
  if (b.size() - header > items) {
    refuse("has " + std::to_string(b.size() - header - items) + " bytes more than it announces");
  }
  return file;
}

inline digits load_half(const std::filesystem::path& dir, const std::string& stem) {
  const auto images_path = find_file(dir, stem + "-images", "idx3-ubyte");
  const auto labels_path = find_file(dir, stem + "-labels", "idx1-ubyte");
  const idx images = read_idx(images_path, 3), labels = read_idx(labels_path, 1);
  const std::size_t count = images.shape[0];

  if (images.shape[1] != side || images.shape[2] != side) {
    throw error(errc::data_loss, images_path.string() + " has images of " + std::to_string(images.shape[1]) + " x " +
                                     std::to_string(images.shape[2]) + " pixels, not 28 x 28");
  }
  if (labels.shape[0] != count) {
    throw error(errc::data_loss, images_path.string() + " has " + std::to_string(count) + " images, but " +
                                     labels_path.string() + " has " + std::to_string(labels.shape[0]) + " labels");
  }
  digits result{std::vector<float>(count * pixels), std::vector<std::int32_t>(count), count};
  for (std::size_t i = 0; i < count * pixels; ++i) result.images[i] = static_cast<float>(images.items()[i]) / 255;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t label = labels.items()[i];
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
