// Draws digits that look handwritten: strokes, bent and slanted by chance, inked with a soft round pen. All arithmetic
// is on integers, so a seed gives the same pixels on every machine.
#pragma once

#include "dice.hpp"
#include "digits.hpp"
#include "strokes.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace mnist {

namespace detail {

// A bend of the paper: displacements at the knots of a grid over the box, interpolated between them.
template <int Cells>
class bend {
 public:
  bend(dice& chance, int reach) {
    for (point& knot : knots_) knot = {chance.around(reach), chance.around(reach)};
  }

  point operator()(point p) const {  // the displacement at p, in its units; the box is 100 << 8 units wide
    const int cell = (100 << 8) / Cells;
    const int i = std::clamp(p.x / cell, 0, Cells - 1), j = std::clamp(p.y / cell, 0, Cells - 1);
    const int u = p.x - i * cell, v = p.y - j * cell;
    const auto along = [&](int point::*axis) {
      const auto at = [&](int k, int l) {
        return std::int64_t{knots_[static_cast<std::size_t>(l * (Cells + 1) + k)].*axis};
      };
      const std::int64_t upper = at(i, j) * (cell - u) + at(i + 1, j) * u;
      const std::int64_t lower = at(i, j + 1) * (cell - u) + at(i + 1, j + 1) * u;
      return static_cast<int>((upper * (cell - v) + lower * v) / (std::int64_t{cell} * cell));
    };
    return {along(&point::x), along(&point::y)};
  }

 private:
  std::array<point, (Cells + 1) * (Cells + 1)> knots_;
};

// The point a fraction i/n from b to c, on the curve through a, b, c, d or on the straight line.
inline point between(bool smooth, point a, point b, point c, point d, int i, int n) {
  const auto along = [&](int point::*axis) {
    const std::int64_t p = a.*axis, q = b.*axis, r = c.*axis, s = d.*axis, t = i, m = n;
    if (!smooth) return static_cast<int>(q + (r - q) * t / m);
    const std::int64_t cubic = 2 * q * m * m * m + (r - p) * t * m * m + (2 * p - 5 * q + 4 * r - s) * t * t * m +
                               (3 * q - p - 3 * r + s) * t * t * t;
    return static_cast<int>(cubic / (2 * m * m * m));
  };
  return {along(&point::x), along(&point::y)};
}

// Distances in 1/16 pixel for squares of distances in the same unit.
inline const std::array<std::uint8_t, 4096>& roots() {
  static const auto table = [] {
    std::array<std::uint8_t, 4096> result{};
    for (int square = 0, root = 0; square < 4096; ++square) {
      while ((root + 1) * (root + 1) <= square) ++root;
      result[static_cast<std::size_t>(square)] = static_cast<std::uint8_t>(root);
    }
    return result;
  }();
  return table;
}

using canvas = std::array<std::uint8_t, pixels>;

// A dab of a round pen; centre and radius in 1/16 pixel, its edge one pixel wide.
inline void dab(canvas& paper, point centre, int radius, int ink) {
  const int reach = radius + 8, last = static_cast<int>(side) - 1;
  const auto low = [](int at) { return std::max(0, at / 16); };
  const auto high = [&](int at) { return std::min(last, at / 16); };
  for (int y = low(centre.y - reach); y <= high(centre.y + reach); ++y) {
    for (int x = low(centre.x - reach); x <= high(centre.x + reach); ++x) {
      const int dx = 16 * x + 8 - centre.x, dy = 16 * y + 8 - centre.y, square = dx * dx + dy * dy;
      if (square >= 4096) continue;
      const int cover = std::clamp(reach - roots()[static_cast<std::size_t>(square)], 0, 16);
      std::uint8_t& pixel = paper[static_cast<std::size_t>(y) * side + static_cast<std::size_t>(x)];
      pixel = std::max(pixel, static_cast<std::uint8_t>(cover * ink / 16));
    }
  }
}

// How one digit is written: a bend of the paper, then a linear map (turn, slant, size) about the middle, then a shift.
class hand {
 public:
  explicit hand(dice& chance)
      : coarse_(chance, 23 << 8), fine_(chance, 11 << 8), shift_{chance.around(40), chance.around(40)} {
    // A turn by the angle whose half has the tangent t/1024: cosine and sine are rational in it.
    const std::int64_t t = chance.around(180), whole = 1024 * 1024 + t * t;
    const std::int64_t cosine = (1024 * 1024 - t * t) * 4096 / whole, sine = 2 * 1024 * t * 4096 / whole;
    const std::int64_t slant = chance.around(2400) - 800;
    const std::int64_t size = chance.between(44, 56);  // in 1/256 pixel for each hundredth of the box
    const std::int64_t wide = size * chance.between(75, 125) / 100;
    xx_ = cosine * wide;
    xy_ = (cosine * slant / 4096 - sine) * size;
    yx_ = sine * wide;
    yy_ = (sine * slant / 4096 + cosine) * size;
  }

  // From the box (units of 1/256 of its hundredth) to the paper, in 1/16 pixel.
  point operator()(point p) const {
    const point c = coarse_(p), f = fine_(p);
    const std::int64_t x = p.x + c.x + f.x - (50 << 8), y = p.y + c.y + f.y - (50 << 8);
    constexpr std::int64_t unit = std::int64_t{4096} * 256 * 16;
    return {static_cast<int>((xx_ * x + xy_ * y) / unit) + 14 * 16 + shift_.x,
            static_cast<int>((yx_ * x + yy_ * y) / unit) + 14 * 16 + shift_.y};
  }

 private:
  bend<2> coarse_;
  bend<4> fine_;
  point shift_;
  std::int64_t xx_, xy_, yx_, yy_;
};

inline void draw(dice& chance, std::size_t digit, canvas& paper) {
  const auto& ways = ways_to_write(digit);
  const hand hand{chance};
  const int radius = chance.between(9, 26), ink = chance.between(210, 255);
  paper.fill(0);
  for (const stroke& s : ways[chance.below(static_cast<std::uint32_t>(ways.size()))]) {
    const point slip{chance.around(8 << 8), chance.around(8 << 8)};
    const auto through = [&](std::size_t i) {
      const point p = s.through[std::min(i, s.through.size() - 1)];
      return point{p.x * 256 + slip.x, p.y * 256 + slip.y};
    };
    for (std::size_t i = 0; i + 1 < s.through.size(); ++i) {
      const point a = through(i == 0 ? 0 : i - 1), b = through(i), c = through(i + 1), d = through(i + 2);
      const int steps = 1 + (std::abs(c.x - b.x) + std::abs(c.y - b.y)) / (2 << 8);
      for (int k = 0; k <= steps; ++k) dab(paper, hand(between(s.smooth, a, b, c, d, k, steps)), radius, ink);
    }
  }
}

inline digits draw_many(std::size_t count, std::uint64_t seed, std::uint64_t stream) {
  digits result{std::vector<float>(count * pixels), std::vector<std::int32_t>(count), count};
  canvas paper;
  for (std::size_t i = 0; i < count; ++i) {
    dice chance{seed, stream + i};
    const std::uint32_t digit = chance.below(10);
    draw(chance, digit, paper);
    result.labels[i] = static_cast<std::int32_t>(digit);
    float* image = result.images.data() + i * pixels;
    for (std::size_t k = 0; k < pixels; ++k) image[k] = static_cast<float>(paper[k]) / 255;
  }
  return result;
}

}  // namespace detail

// Digits drawn by chance. The i-th of each half depends on the seed and i alone, so a smaller set begins a larger one.
inline dataset synthesise(std::size_t train_count, std::size_t test_count, std::uint64_t seed) {
  return {detail::draw_many(train_count, seed, 0), detail::draw_many(test_count, seed, std::uint64_t{1} << 63),
          std::to_string(train_count) + " + " + std::to_string(test_count) + " digits drawn with seed " +
              std::to_string(seed)};
}

}  // namespace mnist
