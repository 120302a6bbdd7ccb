// Initialisers: the first values of a layer's weights, as a function of their shape.
//
//   he_normal, he_uniform               layers with relu                   variance 2 / inputs
//   glorot_uniform, glorot_normal       layers with tanh, sigmoid, none    variance 2 / (inputs + outputs)
//   zeros, ones, constant               biases, scales                     the value
//   random_uniform                      embeddings                         within an interval
#pragma once

#include <cstdint>
#include <type_traits>

#include <pinion/base/config.hpp>
#include <pinion/op/random/functions.hpp>

namespace pinion { inline namespace v0 { namespace nn {

// The number of inputs and outputs of a unit. For a matrix they are its rows and columns; for filters [.., in, out]
// they are in and out times the number of elements of the window (TensorFlow 1.15, init_ops.py, _compute_fans).
struct fans {
  double in = 1, out = 1;
};
// A vector has its extent for both, a scalar 1. Requires: the shape is known.
fans fans_of(const shape& extent);

// The number that variance_scaling divides by: a unit's inputs, its outputs, or the mean of both. `in` keeps the
// variance of values on the way forward, `out` that of gradients on the way back (Glorot and Bengio 2010).
enum class fan { in, out, average };
// The distribution of random initial values. All three get the same variance: the deviation of a truncated normal is
// corrected for the tails that are cut off, and the uniform one lies in +-sqrt(3 variance).
enum class distribution { truncated_normal, normal, uniform };

// Options of variance_scaling_initializer. The variance is scale / fan, where a fan below 1 counts as 1.
struct variance_scaling_options {
  double scale = 1;
  fan mode = fan::in;
  nn::distribution distribution = nn::distribution::truncated_normal;
  std::int64_t seed = 0;  // 0: another one in each session
};

// A rule that yields the first values of a variable. A value; layers take one as an option, and a variable is made from
// one by variable(glorot_uniform_initializer().of<float>({784, 160}), {.name = "W"}). Copies draw the same values for
// the same seed and shape. Seed 0 draws others in each session, so give seeds in a program whose results must repeat;
// layers of one shape with one seed begin equal, so give each layer its own.
//
//   auto first = pn::nn::initializer({.scale = 2, .mode = pn::nn::fan::out, .seed = 7});
//   auto h = pn::nn::dense(x, 160, pn::relu, {.kernel_initializer = first});
//   auto w = pn::variable(first.of<float>({784, 160}), {.name = "W"});
class initializer {
 public:
  // All elements equal `value`.
  static initializer all(double value);
  // Uniform in [low, high), whatever the shape. Throws invalid_argument for an empty interval.
  static initializer between(double low, double high, std::int64_t seed = 0);
  // Random with mean 0 and variance scale / fan, for each of the distributions (He et al. 2015; TensorFlow's
  // variance_scaling_initializer). Throws invalid_argument unless the scale is positive.
  explicit initializer(const variance_scaling_options& o);

  // The values for a shape, drawn when the variable's initialiser runs. Throws invalid_argument unless the shape is
  // known. It makes an expression in the default graph, of float or double; other dtypes do not compile.
  template <element T>
  expr<T> of(const shape& extent, source_location where = source_location::current()) const {
    return elements_of<T>(extent, 0, extent, where);
  }
  // The rows [first, first + count) of the values for shape `whole`. With one seed, the parts of a table put together
  // are the values of the whole table. Requires: those rows exist.
  //
  //   auto part = first.rows_of<float>({1000, 64}, 500, 250);      // rows 500 to 749, [250, 64]
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
    std::int64_t begin;  // index of its first element in the whole
  };
  initializer() = default;

  template <element T>
  expr<T> elements_of(const shape& whole, std::int64_t begin, const shape& extent, source_location where) const {
    static_assert(std::is_floating_point_v<T>, "weights are float or double");
    return dsl::as_typed<expr<T>>(elements_of(dtype_of<T>, whole, begin, extent, where));
  }
  // The elements of a tensor of shape `whole`, from index `begin` on, in the shape `extent`.
  any_expr elements_of(dtype type, const shape& whole, std::int64_t begin, const shape& extent,
                       source_location where) const;
  template <element T>
  any_expr drawn(const shape& whole, std::int64_t begin, const shape& extent, source_location where) const;

  variance_scaling_options o_;
  kind draws_ = kind::by_variance;
  double low_ = 0, high_ = 0;  // the interval of between(); of all(), the value
};

// The initialisers by TensorFlow's names. Each is a value to pass to a layer: {.kernel_initializer =
// he_normal_initializer()}. Constants have no seed. Zeros suit biases; as kernels of hidden layers they make all units
// learn the same.
inline initializer zeros_initializer() {
  return initializer::all(0);
}
inline initializer ones_initializer() {
  return initializer::all(1);
}
inline initializer constant_initializer(double value) {
  return initializer::all(value);
}
// Uniform in [low, high). Seed 0 stands for another one in each session. Throws invalid_argument where low > high.
inline initializer random_uniform_initializer(double low = -.05, double high = .05, std::int64_t seed = 0) {
  return initializer::between(low, high, seed);
}
// Random with variance scale / fan; see initializer.
inline initializer variance_scaling_initializer(const variance_scaling_options& o = {}) {
  return initializer(o);
}
// Variance 2 / (in + out) (Glorot and Bengio 2010); the uniform variant lies in +-sqrt(6 / (in + out)). It is the
// default of dense and conv2d, as in TensorFlow, and suits tanh and sigmoid.
inline initializer glorot_uniform_initializer(std::int64_t seed = 0) {
  return initializer({.mode = fan::average, .distribution = distribution::uniform, .seed = seed});
}
inline initializer glorot_normal_initializer(std::int64_t seed = 0) {
  return initializer({.mode = fan::average, .seed = seed});
}
// Variance 2 / in (He et al. 2015). It suits relu, which halves the variance. The uniform variant lies in +-sqrt(6 /
// in).
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
