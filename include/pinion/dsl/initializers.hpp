// Initialisers: how the weights of a layer begin, by the shape they have.
#pragma once

#include <algorithm>
#include <cmath>

#include <pinion/base/config.hpp>
#include <pinion/dsl/random.hpp>

namespace pinion::inline v0::nn {

// How many values come into a weight's unit, how many go out: of a matrix its rows and columns; of filters
// [.., in, out] those times the size of the window. (TensorFlow 1.15, init_ops.py, _compute_fans.)
struct fans {
  double in = 1, out = 1;
};
fans fans_of(const shape& extent);

enum class fan { in, out, average };
enum class distribution { truncated_normal, normal, uniform };

struct variance_scaling_options {
  double scale = 1;
  fan mode = fan::in;
  nn::distribution distribution = nn::distribution::truncated_normal;
  std::int64_t seed = 0;  // 0: others in each session
};

// A value: variable(glorot_uniform_initializer().of<float>({784, 160}), {.name = "W"}), or an option of a layer.
class initializer {
 public:
  // All elements the same.
  static initializer all(double value);
  // Random in [low, high), whatever the shape. Throws invalid_argument where that is empty.
  static initializer between(double low, double high, std::int64_t seed = 0);
  // Random, of mean 0 and variance scale / fan, whatever the distribution (He et al. 2015, TensorFlow's
  // variance_scaling_initializer). Throws invalid_argument unless the scale is positive.
  explicit initializer(const variance_scaling_options& o);

  // The values for a shape, drawn when a variable's initialiser runs. Throws invalid_argument unless it is known.
  template <element T>
  expr<T> of(const shape& extent, source_location where = source_location::current()) const {
    return elements_of<T>(extent, 0, extent, where);
  }
  // Those of some rows of that shape, which are what they are in the whole: of one seed the parts of a table are, put
  // together, the table. Requires: rows of it.
  template <element T>
  expr<T> rows_of(const shape& whole, std::int64_t first, std::int64_t count,
                  source_location where = source_location::current()) const {
    shape rows = whole;
    rows.set(0, count);
    shape row = whole;
    row.set(0, 1);
    return elements_of<T>(whole, first * row.count(), rows, where);
  }

 private:
  enum class kind { by_variance, between, constant };
  initializer() = default;

  // The elements from one on of a tensor of shape `whole`, as many as `extent` has.
  template <element T>
  expr<T> elements_of(const shape& whole, std::int64_t begin, const shape& extent, source_location where) const {
    static_assert(std::is_floating_point_v<T>, "weights are float or double");
    if (!whole.known())
      throw error(errc::invalid_argument, "weights of shape " + to_string(whole) + ": the shape must be known");
    if (draws_ == kind::constant) return fill<T>(extent, static_cast<T>(low_), {}, where);
    if (draws_ == kind::between)
      return random_uniform<T>(extent, {.minval = low_, .maxval = high_, .seed = o_.seed, .first = begin}, where);
    const fans f = fans_of(whole);
    const double n = o_.mode == fan::in ? f.in : o_.mode == fan::out ? f.out : (f.in + f.out) / 2;
    const double variance = o_.scale / std::max(1.0, n);
    if (o_.distribution == nn::distribution::uniform) {
      const double limit = std::sqrt(3 * variance);
      return random_uniform<T>(extent, {.minval = -limit, .maxval = limit, .seed = o_.seed, .first = begin}, where);
    }
    if (o_.distribution == nn::distribution::normal)
      return random_normal<T>(extent, {.stddev = std::sqrt(variance), .seed = o_.seed, .first = begin}, where);
    constexpr double cut = .87962566103423978;  // the standard deviation of a normal cut at two of them
    return truncated_normal<T>(extent, {.stddev = std::sqrt(variance) / cut, .seed = o_.seed, .first = begin}, where);
  }

  variance_scaling_options o_;
  kind draws_ = kind::by_variance;
  double low_ = 0, high_ = 0;  // of those that the shape has no say in
};

inline initializer zeros_initializer() {
  return initializer::all(0);
}
inline initializer ones_initializer() {
  return initializer::all(1);
}
inline initializer constant_initializer(double value) {
  return initializer::all(value);
}
inline initializer random_uniform_initializer(double low = -.05, double high = .05, std::int64_t seed = 0) {
  return initializer::between(low, high, seed);
}
inline initializer variance_scaling_initializer(const variance_scaling_options& o = {}) {
  return initializer(o);
}
// Variance 2 / (in + out) (Glorot and Bengio 2010); the uniform one in +-sqrt(6 / (in + out)).
inline initializer glorot_uniform_initializer(std::int64_t seed = 0) {
  return initializer({.mode = fan::average, .distribution = distribution::uniform, .seed = seed});
}
inline initializer glorot_normal_initializer(std::int64_t seed = 0) {
  return initializer({.mode = fan::average, .seed = seed});
}
// Variance 2 / in (He et al. 2015).
inline initializer he_normal_initializer(std::int64_t seed = 0) {
  return initializer({.scale = 2, .seed = seed});
}
inline initializer he_uniform_initializer(std::int64_t seed = 0) {
  return initializer({.scale = 2, .distribution = distribution::uniform, .seed = seed});
}

}  // namespace pinion::inline v0::nn

#if PINION_HEADER_ONLY
#include <pinion/dsl/initializers.ipp>
#endif
