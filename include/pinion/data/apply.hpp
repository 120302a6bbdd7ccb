// Stages that run a function of the user's on each element: map, filter, a generator.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

#include <pinion/data/cursor.hpp>

namespace pinion::inline v0::data {

// A function that takes an element's tensors and gives an element.
template <class F, class... Ts>
concept element_function = std::invocable<const F&, tensor<Ts>...> &&
    elemental<std::remove_cvref_t<std::invoke_result_t<const F&, tensor<Ts>...>>>;

template <class F, class... Ts>
using mapped_element = element_from<std::remove_cvref_t<std::invoke_result_t<const F&, tensor<Ts>...>>>;

template <class F, element... Ts>
mapped_element<F, Ts...> call(const F& f, element_of<Ts...>&& element) {
  using result = std::remove_cvref_t<std::invoke_result_t<const F&, tensor<Ts>...>>;
  return to_element(result(std::apply(f, std::move(element))));
}

template <class F, class From, element... Us>
class map_cursor;
template <class F, element... Ts, element... Us>
class map_cursor<F, std::tuple<Ts...>, Us...> final : public cursor<Us...> {
 public:
  map_cursor(cursor_ptr<Ts...> from, std::shared_ptr<const F> f) : from_(std::move(from)), f_(std::move(f)) {}
  std::optional<element_of<Us...>> next() override {
    auto element = from_->next();
    if (!element) return std::nullopt;
    return call<F, Ts...>(*f_, *std::move(element));
  }

 private:
  cursor_ptr<Ts...> from_;
  std::shared_ptr<const F> f_;
};

template <class F, element... Ts>
class filter_cursor final : public cursor<Ts...> {
 public:
  filter_cursor(cursor_ptr<Ts...> from, std::shared_ptr<const F> keep, std::stop_token stop)
      : from_(std::move(from)), keep_(std::move(keep)), stop_(std::move(stop)) {}
  std::optional<element_of<Ts...>> next() override {
    while (!stop_.stop_requested()) {
      auto element = from_->next();
      if (!element || std::apply(*keep_, std::as_const(*element))) return element;
    }
    return std::nullopt;
  }

 private:
  cursor_ptr<Ts...> from_;
  std::shared_ptr<const F> keep_;
  std::stop_token stop_;
};

// What a generator gives: std::optional of an element. It may take a stop token, to end a long wait early.
template <class F>
struct generated {};
template <class F>
requires std::invocable<F&>
struct generated<F> : std::remove_cvref<std::invoke_result_t<F&>> {
};
template <class F>
requires(std::invocable<F&, std::stop_token> && !std::invocable<F&>) struct generated<F>
    : std::remove_cvref<std::invoke_result_t<F&, std::stop_token>> {
};

template <class F, element... Ts>
class generator_cursor final : public cursor<Ts...> {
 public:
  generator_cursor(F f, std::stop_token stop) : f_(std::move(f)), stop_(std::move(stop)) {}
  std::optional<element_of<Ts...>> next() override {
    auto made = [this] {
      if constexpr (std::invocable<F&>)
        return f_();
      else
        return f_(stop_);
    }();
    if (!made) return std::nullopt;
    return to_element(*std::move(made));
  }

 private:
  F f_;
  std::stop_token stop_;
};

}  // namespace pinion::inline v0::data
