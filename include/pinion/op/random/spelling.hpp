// Random values: new ones each time they are computed, the same sequence for the same seed everywhere.
#pragma once

#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/op/random/op.hpp>
#include <pinion/op/source/spelling.hpp>
#include <pinion/op/variable/spelling.hpp>

namespace pinion { inline namespace v0 {

struct uniform_options {
  double minval = 0, maxval = 1;  // in [minval, maxval)
  std::int64_t seed = 0;          // 0: another one in each session
  std::int64_t first = 0;         // the elements are those from this one on of a larger tensor: rows of it, say
  std::string_view name = {};
};
struct normal_options {
  double mean = 0, stddev = 1;
  std::int64_t seed = 0;
  std::int64_t first = 0;
  std::string_view name = {};
};

namespace dsl {
template <class Op, element T>
expr<T, made_by<Op>> random(const shape& extent, attributes attrs, std::string_view name, source_location where) {
  attrs.set("shape", extent);
  attrs.set("dtype", dtype_of<T>);
  return make<Op, T>({.op = Op::name,
                      .base_name = std::string(name.empty() ? Op::name : name),
                      .attrs = std::move(attrs),
                      .where = where});
}
attributes random_attributes(const uniform_options& o);
attributes random_attributes(const normal_options& o);
// A random tensor of the shape that x has when it runs.
template <class Op, element T>
expr<T, made_by<Op>> random_like(const expr<T>& x, attributes attrs, source_location where) {
  if (x.shape().known()) return random<Op, T>(x.shape(), std::move(attrs), {}, where);
  attrs.set("dtype", dtype_of<T>);
  return node_call<Op, T>({}, where, std::move(attrs), x);
}
}  // namespace dsl

template <element T>
auto random_uniform(const shape& extent, const uniform_options& o = {},
                    source_location where = source_location::current()) {
  return dsl::random<op::random_uniform, T>(extent, dsl::random_attributes(o), o.name, where);
}
template <element T>
auto random_normal(const shape& extent, const normal_options& o = {},
                   source_location where = source_location::current()) {
  return dsl::random<op::random_normal, T>(extent, dsl::random_attributes(o), o.name, where);
}
// Normal, drawn again until less than two standard deviations from the mean.
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
#include <pinion/op/random/spelling.ipp>
#endif
