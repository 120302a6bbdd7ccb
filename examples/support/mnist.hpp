// The digits for the examples: real ones where there are files, drawn ones elsewhere, and shuffled batches of them.
#pragma once

#include "dice.hpp"
#include "digits.hpp"
#include "handwriting.hpp"
#include "idx.hpp"

#include <pinion/base/error.hpp>
#include <pinion/tensor/tensor.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace mnist {

// The files of `dir`, else of the folder that PINION_MNIST_DIR names; without either, as many digits as MNIST has,
// drawn.
inline dataset open(const std::optional<std::string>& dir = {}) {
  const char* named = std::getenv("PINION_MNIST_DIR");
  if (dir && !dir->empty()) return load(*dir);
  if (named != nullptr && *named != '\0') return load(named);
  return synthesise(60000, 10000, 1);
}

// Takes the last of the digits away, for validation.
inline digits hold_out(digits& from, std::size_t count) {
  if (count > from.count)
    throw pinion::error(pinion::errc::invalid_argument,
                        std::to_string(count) + " digits cannot be held out of " + std::to_string(from.count));
  from.count -= count;
  digits held{{from.images.begin() + static_cast<std::ptrdiff_t>(from.count * pixels), from.images.end()},
              {from.labels.begin() + static_cast<std::ptrdiff_t>(from.count), from.labels.end()},
              count};
  from.images.resize(from.count * pixels);
  from.labels.resize(from.count);
  return held;
}

// Mini-batches of a shuffled set, for ever; every epoch is shuffled anew. What does not fill a batch at the end of an
// epoch is left out of it. Refers to the digits, which must outlive it. For one thread at a time.
class batches {
 public:
  batches(const digits& from, std::size_t size, std::uint64_t seed)
      : from_(from), size_(size), dice_(seed), order_(from.count) {
    if (size == 0 || size > from.count) {
      throw pinion::error(
          pinion::errc::invalid_argument,
          "a batch of " + std::to_string(size) + " digits cannot be taken from " + std::to_string(from.count));
    }
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    shuffle();
  }

  std::size_t per_epoch() const { return from_.count / size_; }
  std::size_t epoch() const { return epoch_; }  // of the batch that comes next, from 0

  // The next batch as tensors [size, 784] and [size].
  std::pair<pinion::tensor<float>, pinion::tensor<std::int32_t>> next() {
    const auto rows = static_cast<std::int64_t>(size_);
    pinion::tensor<float> images({rows, static_cast<std::int64_t>(pixels)});
    pinion::tensor<std::int32_t> labels(pinion::shape{rows});
    next(images.data(), labels.data());
    return {std::move(images), std::move(labels)};
  }
  // Copies the next batch to images (size x 784) and labels (size).
  void next(float* images, std::int32_t* labels) {
    for (std::size_t i = 0; i < size_; ++i) {
      const std::size_t which = order_[at_ + i];
      std::copy_n(from_.images.data() + which * pixels, pixels, images + i * pixels);
      labels[i] = from_.labels[which];
    }
    at_ += size_;
    if (at_ + size_ > order_.size()) {
      at_ = 0;
      ++epoch_;
      shuffle();
    }
  }

 private:
  void shuffle() {
    for (std::size_t i = order_.size(); i > 1; --i)
      std::swap(order_[i - 1], order_[dice_.below(static_cast<std::uint32_t>(i))]);
  }

  const digits& from_;
  std::size_t size_, at_ = 0, epoch_ = 0;
  dice dice_;
  std::vector<std::size_t> order_;
};

}  // namespace mnist
