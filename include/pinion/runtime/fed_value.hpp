// A value that may be fed to an expression of a dtype known to the compiler.
#pragma once

#include <initializer_list>
#include <type_traits>
#include <utility>

#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 {

// Made in passing, by a feed or by the call of a callable: from a tensor of T, a vector, span or array of T and these
// nested, nested braces, or a scalar that converts. A tensor is shared; all others are copied. Throws invalid_argument
// where rows are ragged.
template <element T>
class fed_value {
 public:
  fed_value(const tensor<T>& value) : value_(value.untyped()) {}
  fed_value(const literal<T>& value) : value_(tensor<T>::of(value).untyped()) {}
  fed_value(std::initializer_list<literal<T>> rows) : fed_value(literal<T>(rows)) {}
  template <rows::of<T> R>
  fed_value(const R& rows) : value_(tensor<T>::of(rows).untyped()) {}
  template <class V>
  requires(std::is_convertible_v<const V&, T> && !is_tensor<V>) fed_value(const V& scalar)
      : value_(tensor<T>(static_cast<T>(scalar)).untyped()) {}

  any_tensor take() && { return std::move(value_); }

 private:
  any_tensor value_;
};

}}  // namespace pinion::v0
