// Elements as text, and small datasets.
#pragma once

#include <string>
#include <tuple>
#include <utility>

#include <pinion/data/csv.hpp>
#include <pinion/data/sources.hpp>
#include <pinion/tensor/text.hpp>

#include <support/caught.hpp>

template <class... Ts>
std::string text(const std::tuple<pinion::tensor<Ts>...>& element) {
  std::string s;
  std::apply([&](const auto&... t) { ((s += (s.empty() ? "" : "/") + to_string(t)), ...); }, element);
  return s;
}
// "0 1 2": what is left of a pass, up to `most` elements.
template <class... Ts>
std::string text(pinion::data::pass<Ts...>& pass, int most = 1000) {
  std::string s;
  for (; most > 0; --most) {
    const auto element = pass.next();
    if (!element) break;
    s += (s.empty() ? "" : " ") + text(*element);
  }
  return s;
}
template <class... Ts>
std::string text(pinion::data::pass<Ts...>&& pass) {
  return text(pass);
}
// The first pass.
template <class... Ts>
std::string text(const pinion::data::dataset<Ts...>& d, std::uint64_t number = 0) {
  auto pass = d.iterate(number);
  return text(pass);
}

// The same elements, without numbers of rows.
inline pinion::data::dataset<std::int64_t> plain(pinion::data::dataset<std::int64_t> d) {
  return d.map([](pinion::tensor<std::int64_t> x) { return x; });
}
