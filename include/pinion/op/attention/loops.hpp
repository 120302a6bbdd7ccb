// The inner loops of attention: rows of a block of scores.
//
// A row is padded to whole vectors by scores of -infinity, whose weights are 0.
#pragma once

#include <cstdint>
#include <limits>

#include <pinion/scalar/maths.hpp>

namespace pinion { inline namespace v0 { namespace loops {

// Elements to which rows of scores are padded: no vector has more lanes.
inline constexpr std::int64_t score_padding = 16;

// Turns the scores of each row into weights exp(score - greatest so far), and lowers what was summed before, weights in
// `sums` and values in `y`, to the new greatest one.
template <class T>
struct weights_of_scores {
  template <class Isa>
  static PINION_VECTOR void run(T* scores, std::int64_t width, std::int64_t rows, T* greatest, T* sums, T* y,
                                std::int64_t to_row, std::int64_t columns) {
    using V = scalar::simd<T, Isa>;
    constexpr T lowest = -std::numeric_limits<T>::infinity();
    for (std::int64_t r = 0; r < rows; ++r, scores += width, y += to_row) {
      V most = lowest;
      for (std::int64_t i = 0; i < width; i += V::lanes) most = max(most, V::load(scores + i));
      T top = greatest[r];
      for (int lane = 0; lane < V::lanes; ++lane) top = most[lane] > top ? most[lane] : top;
      const T shift = top == lowest ? T(0) : top;
      V sum = T(0);
      for (std::int64_t i = 0; i < width; i += V::lanes) {
        const V weight = weight_of<V>(V::load(scores + i) - V::splat(shift));
        weight.store(scores + i);
        sum = sum + weight;
      }
      T total = 0;
      for (int lane = 0; lane < V::lanes; ++lane) total += sum[lane];
      const T lowered = greatest[r] == lowest ? T(0) : weight_of<V>(V(greatest[r] - shift))[0];
      sums[r] = sums[r] * lowered + total;
      if (lowered != T(1))
        for (std::int64_t i = 0; i < columns; ++i) y[i] *= lowered;
      greatest[r] = top;
    }
  }

  // e^x for x <= 0, which is 0 for -infinity.
  template <class V>
  static PINION_VECTOR V weight_of(V x) {
    return select(x == V(-std::numeric_limits<T>::infinity()), V(T(0)), exp_of_negative(x));
  }
};

// Turns the scores of each row into weights exp(score - logarithm of the sum), and the gradients of the weights into
// those of the scores: weight (gradient - product of dy and y of the row).
template <class T>
struct gradients_of_scores {
  template <class Isa>
  static PINION_VECTOR void run(T* scores, T* gradients, std::int64_t width, std::int64_t rows, const T* logarithms,
                                const T* products) {
    using V = scalar::simd<T, Isa>;
    constexpr T lowest = -std::numeric_limits<T>::infinity();
    for (std::int64_t r = 0; r < rows; ++r, scores += width, gradients += width) {
      const V shift = logarithms[r] == lowest ? T(0) : logarithms[r], product = products[r];
      for (std::int64_t i = 0; i < width; i += V::lanes) {
        const V score = V::load(scores + i);
        const V weight = select(score == V(lowest), V(T(0)), exp(score - shift));
        weight.store(scores + i);
        (weight * (V::load(gradients + i) - product)).store(gradients + i);
      }
    }
  }
};

}}}  // namespace pinion::v0::loops
