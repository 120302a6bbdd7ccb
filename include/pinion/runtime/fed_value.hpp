// A value on its way into a step, converted at compile time to the dtype of the expression it is fed to.
#pragma once

#include <initializer_list>
#include <type_traits>
#include <utility>

#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 {

// The argument type of feeds and callables; users do not name it. It converts from a tensor of T, a vector, span or
// array of T and nested ones, nested braces, or a scalar that converts to T. A tensor is shared; every other source is
// copied. Throws invalid_argument if rows differ in length.
//
//   sess.run({{X, {{1.f, 2.f}, {3.f, 4.f}}}, {rate, 0.1f}}, train);
//
// Numbers convert by C++'s rules: an int is fed to a float placeholder, and a double too, rounded. A tensor, vector or
// span of another dtype does not compile. It lives for the call, and the value that it holds for the step.
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
