// The model of 30_transformer: two blocks of attention and a feed-forward network, which tell the next digit of a line.
#pragma once

#include <pinion/graph.hpp>

#include <algorithm>
#include <random>
#include <string>

namespace pn = pinion;
using expr = pn::expr<float>;

constexpr std::int64_t digits = 10, length = 8, whole = 2 * length - 1, width = 48, heads = 4, depth = 12, blocks = 2;

inline expr weights(const std::string& name, const pn::shape& extent, double stddev = .14) {
  return pn::variable(pn::truncated_normal<float>(extent, {.stddev = stddev, .seed = 7}), {.name = name});
}

// The next digits [batch, length, digits] behind x [batch, length, width], with the variables of the model. `attend`
// makes heads of the queries, keys and values of a block, [batch, heads, length, depth].
template <class Attend>
expr next_digits(expr x, const Attend& attend) {
  const expr one = pn::ones<float>({width});
  for (int i = 0; i < blocks; ++i) {
    const pn::name_scope scope{"block"};
    const expr h = pn::rms_norm(x, one);
    const auto project = [&](const char* name) -> expr {
      return pn::einsum("btc,chd->bhtd", h, weights(name, {width, heads, depth}));
    };
    const expr q = project("q"), k = project("k"), v = project("v");
    x = x + pn::einsum("bhtd,hdc->btc", attend(q, k, v), weights("o", {heads, depth, width}));
    const expr wide = pn::relu(pn::matmul(pn::rms_norm(x, one), weights("up", {width, 4 * width})));
    x = x + pn::matmul(wide, weights("down", {4 * width, width}, .07));
  }
  return pn::matmul(pn::rms_norm(x, one), weights("out", {width, digits}));
}

// Lines of digits, each followed by all but the last of the same ones in order; and all of these, which are to be told.
inline void fill_lines(std::mt19937& random, pn::tensor<int>& lines, pn::tensor<int>& sorted) {
  for (int *from = lines.data(), *to = sorted.data(); to < sorted.data() + sorted.size(); from += whole, to += length) {
    std::generate_n(from, length, [&] { return static_cast<int>(random() % digits); });
    std::sort(to, std::copy_n(from, length, to));
    std::copy_n(to, length - 1, from + length);
  }
}
