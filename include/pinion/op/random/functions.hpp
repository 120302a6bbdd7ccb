// Random tensors, drawn anew in each run. The elements depend on the seed, the run and the element's index alone, so a
// seed yields the same sequence on every device and with any number of threads.
//
//   auto noise = pn::random_normal<float>({32, 64}, {.stddev = 0.1, .seed = 7});
//
// A seed of 0 stands for another one in each session. The shape must be known; invalid_argument otherwise.
//
//   uniform_options      minval 0, maxval 1                   each value of the interval with the same probability
//   normal_options       mean 0, stddev 1                     the bell curve
//   truncated_normal     the same, without the tails          weights of layers
//
// Two sessions with one seed draw the same sequence, from its beginning; so do two graphs. No gradient flows through
// random tensors.
#pragma once

#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/op/random/op.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>

namespace pinion { inline namespace v0 {

// Options of random_uniform. For integers the interval has the whole numbers n with minval <= n < maxval.
struct uniform_options {
  double minval = 0, maxval = 1;  // values lie in [minval, maxval)
  std::int64_t seed = 0;          // 0: another one in each session
  std::int64_t first = 0;         // index of the first element within a larger tensor, of which this is a part
  std::string_view name = {};
};
// Options of random_normal and truncated_normal. `mean` and `stddev` are those before truncation. `seed` and `first`
// are as in uniform_options.
struct normal_options {
  double mean = 0, stddev = 1;
  std::int64_t seed = 0;
  std::int64_t first = 0;
  std::string_view name = {};
};

namespace dsl {
// A random tensor of this shape, by op Op. No gradient flows to a random tensor, and none has inputs.
template <class Op, element T>
expr<T, made_by<Op>> random(const shape& extent, attributes attrs, std::string_view name, source_location where) {
  attrs.set("shape", extent);
  attrs.set("dtype", dtype_of<T>);
  return make<Op, T>({.op = Op::name,
                      .base_name = std::string(name.empty() ? Op::name : name),
                      .attrs = std::move(attrs),
                      .where = where});
}
// The attributes of the node that these options describe.
attributes random_attributes(const uniform_options& o);
attributes random_attributes(const normal_options& o);
// A random tensor with the shape that x has at run time.
template <class Op, element T>
expr<T, made_by<Op>> random_like(const expr<T>& x, attributes attrs, source_location where) {
  if (x.shape().known()) return random<Op, T>(x.shape(), std::move(attrs), {}, where);
  attrs.set("dtype", dtype_of<T>);
  return node_call<Op, T>({}, where, std::move(attrs), x);
}
}  // namespace dsl

// Uniform values in [minval, maxval). Throws invalid_argument for an empty interval. float, double, int32 or int64. A
// float is minval + u (maxval - minval), where u is a multiple of 2^-24, and a double the same with 2^-53. The bits are
// those of Philox4x32-10, a counter-based generator (Salmon et al. 2011), which TensorFlow uses as well; the elements
// are not TensorFlow's.
//
// The n-th run of a node in a session draws the n-th tensor of its seed. Two nodes with one seed draw the same numbers;
// give each a seed of its own. The draws of a step are the same wherever they are used in it.
//
//   auto dice = pn::random_uniform<int>({100}, {.minval = 1, .maxval = 7, .seed = 3});      // 1 to 6
template <element T>
auto random_uniform(const shape& extent, const uniform_options& o = {},
                    source_location where = source_location::current()) {
  return dsl::random<op::random_uniform, T>(extent, dsl::random_attributes(o), o.name, where);
}
// Normal values with the given mean and standard deviation. float, double. By the method of Box and Muller (1958),
// computed in double. A negative stddev mirrors the values; it is not refused.
//
//   auto noisy = x + pn::random_normal<float>({32, 64}, {.stddev = .1, .seed = 5});
template <element T>
auto random_normal(const shape& extent, const normal_options& o = {},
                   source_location where = source_location::current()) {
  return dsl::random<op::random_normal, T>(extent, dsl::random_attributes(o), o.name, where);
}
// Normal values, each drawn again until it is less than two standard deviations from the mean. float, double. The
// standard deviation of the result is .88 of `stddev`. One element in 22 is drawn again. TensorFlow:
// tf.truncated_normal.
//
//   auto w = pn::variable(pn::truncated_normal<float>({784, 160}, {.stddev = .05, .seed = 1}), {.name = "W"});
template <element T>
auto truncated_normal(const shape& extent, const normal_options& o = {},
                      source_location where = source_location::current()) {
  return dsl::random<op::truncated_normal, T>(extent, dsl::random_attributes(o), o.name, where);
}

template <class T>
requires(!element<T>) PINION_REFUSED(PINION_ELEMENT_TYPES)
random_uniform(const shape&, const uniform_options& = {}) PINION_REFUSAL;
template <class T>
requires(!element<T>) PINION_REFUSED(PINION_ELEMENT_TYPES)
random_normal(const shape&, const normal_options& = {}) PINION_REFUSAL;
template <class T>
requires(!element<T>) PINION_REFUSED(PINION_ELEMENT_TYPES)
truncated_normal(const shape&, const normal_options& = {}) PINION_REFUSAL;

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/random/functions.ipp>
#endif
