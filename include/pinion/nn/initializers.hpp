// Initialisers: how the weights of a layer begin, by the shape they have.
#pragma once

#include <cstdint>
#include <type_traits>

#include <pinion/base/config.hpp>
#include <pinion/op/random/spelling.hpp>

namespace pinion { inline namespace v0 { namespace nn {

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
    const row_block rows(whole, first, count);
    return elements_of<T>(whole, rows.begin, rows.extent, where);
  }

 private:
  enum class kind { by_variance, between, constant };
  struct row_block {
    row_block(const shape& whole, std::int64_t first, std::int64_t count);
    shape extent;
    std::int64_t begin;  // of its elements, the first
  };
  initializer() = default;

  template <element T>
  expr<T> elements_of(const shape& whole, std::int64_t begin, const shape& extent, source_location where) const {
    static_assert(std::is_floating_point_v<T>, "weights are float or double");
    return dsl::as_typed<expr<T>>(elements_of(dtype_of<T>, whole, begin, extent, where));
  }
  // The elements from one on of a tensor of shape `whole`, as many as `extent` has.
  any_expr elements_of(dtype type, const shape& whole, std::int64_t begin, const shape& extent,
                       source_location where) const;
  template <element T>
  any_expr drawn(const shape& whole, std::int64_t begin, const shape& extent, source_location where) const;

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

}}}  // namespace pinion::v0::nn

#if PINION_HEADER_ONLY
#include <pinion/nn/initializers.ipp>
#endif
