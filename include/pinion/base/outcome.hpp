// The result of an operation that ends in a callback: a value, or the error that came instead.
//
//   device.to_host(there, [](pn::outcome<pn::any_tensor> copy) {
//     if (!copy) return report(*copy.failure());
//     print(copy.value());
//   });
//
// A function that ends before it returns throws its error. An outcome carries a result to where it cannot be thrown: to
// another thread, or to a callback that is called later.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>

namespace pinion { inline namespace v0 {

// An error that many outcomes share, so that passing it on copies no text; null: there is none. It does not change, and
// any thread may read it.
using shared_error = std::shared_ptr<const error>;

namespace detail {
shared_error share(const error& why);
// Throws a copy of the error. Requires: it is not null.
[[noreturn]] void throw_shared(const shared_error& why);
}  // namespace detail

template <class T = void>
class [[nodiscard]] outcome;

// Calls f() and returns its result as an outcome: its value, or what it throws, as current_error() tells it.
template <class F>
outcome<std::invoke_result_t<F>> outcome_of(F&& f);

// The outcome of an operation with a value: exactly one of value and error is there. A plain value, which may be
// movable only. Success allocates nothing, and a copy of a failed outcome shares the error.
template <class T>
class outcome {
 public:
  outcome(T value) : value_(std::move(value)) {}
  outcome(const error& why) : failure_(detail::share(why)) {}
  // Passes on the error of another outcome, of any type. Requires: it is not null.
  outcome(shared_error why) : failure_(std::move(why)) {}

  bool ok() const { return !failure_; }
  explicit operator bool() const { return ok(); }
  // The error; null where there is a value.
  const shared_error& failure() const { return failure_; }

  // The value. Throws the error where there is none.
  T& value() & { return expect_value(), *value_; }
  const T& value() const& { return expect_value(), *value_; }
  T&& value() && { return expect_value(), *std::move(value_); }

  // The outcome of f(value); f is not called, and the error is passed on, where there is no value.
  template <class F>
  outcome<std::invoke_result_t<F, T>> then(F&& f) && {
    if (failure_) return std::move(failure_);
    return outcome_of([&]() -> std::invoke_result_t<F, T> { return std::forward<F>(f)(*std::move(value_)); });
  }

 private:
  void expect_value() const {
    if (failure_) detail::throw_shared(failure_);
  }

  std::optional<T> value_;
  shared_error failure_;
};

// The outcome of an operation without a value: success, which is outcome<>{}, or an error.
template <>
class [[nodiscard]] outcome<void> {
 public:
  outcome() = default;
  outcome(const error& why) : failure_(detail::share(why)) {}
  // Passes on the error of another outcome, of any type; null: success.
  outcome(shared_error why) : failure_(std::move(why)) {}

  bool ok() const { return !failure_; }
  explicit operator bool() const { return ok(); }
  // The error; null in case of success.
  const shared_error& failure() const { return failure_; }

  // Throws the error, if there is one.
  void value() const {
    if (failure_) detail::throw_shared(failure_);
  }

  // The outcome of f(); f is not called, and the error is passed on, if there is one.
  template <class F>
  outcome<std::invoke_result_t<F>> then(F&& f) && {
    if (failure_) return std::move(failure_);
    return outcome_of(std::forward<F>(f));
  }

 private:
  shared_error failure_;
};

// A completion handler: the callback that takes the outcome of an operation. It is called once. The function that takes
// it tells in which thread.
template <class T = void>
using completion = std::function<void(outcome<T>)>;

template <class F>
outcome<std::invoke_result_t<F>> outcome_of(F&& f) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<F>>)
      return std::forward<F>(f)(), outcome<>();
    else
      return std::forward<F>(f)();
  } catch (...) {
    return current_error();
  }
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/outcome.ipp>
#endif
