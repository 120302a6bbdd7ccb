// The training step of a multilayer perceptron written out by hand: the limit that the same graph is compared with.
//
//   x ── (GEMM, bias, ELU) ... ── GEMM ── bias, softmax cross entropy ── and back ── momentum
//
// Same maths as pinion's kernels, one thread; no graph, no allocation in a step, and no pass over memory of its own for
// what can be done while a tile of a product is in the first-level cache: bias and ELU behind the products forward, the
// derivative of ELU and the gradient of the bias behind those of the input's gradient, and the update of the weights
// behind those of their gradient. The columns of the last layer fill vectors, where unused ones stay 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <pinion/scalar/maths.hpp>
#include <pinion/tensor/tensor.hpp>

#include "call_times.hpp"
#include "hand_gemm.hpp"

namespace ideal {

// y = elu(y + b).
struct bias_elu {
  const float* b;

  template <class Isa>
  static PINION_INLINE void run(const bias_elu* with, product_part part) {
    using V = ps::simd<float, Isa>;
    for (std::int64_t j = 0; j < part.columns; j += V::lanes) {
      const V b = V::load(with->b + part.j + j);
      for (std::int64_t i = 0; i < part.rows; ++i) {
        float* const y = part.c + i * part.ldc + j;
        const V x = V::load(y) + b;
        select(x > 0, x, expm1(x)).store(y);
      }
    }
  }
};

// dy *= elu'(y), and db += the sum of its rows. y says what the derivative is: 1 where positive, y + 1 elsewhere.
struct bias_elu_back {
  const float* y;
  float* db;
  std::int64_t n;  // columns of y

  template <class Isa>
  static PINION_INLINE void run(const bias_elu_back* with, product_part part) {
    using V = ps::simd<float, Isa>;
    for (std::int64_t j = 0; j < part.columns; j += V::lanes) {
      V sum = V::load(with->db + part.j + j);
      for (std::int64_t i = 0; i < part.rows; ++i) {
        const V y = V::load(with->y + (part.i + i) * with->n + part.j + j);
        float* const dy = part.c + i * part.ldc + j;
        const V d = V::load(dy) * select(y > 0, V(1.0f), y + 1.0f);
        d.store(dy);
        sum = sum + d;
      }
      sum.store(with->db + part.j + j);
    }
  }
};

// a = momentum a + g; w -= rate a. Rows of w and a have n elements.
struct momentum_update {
  float *w, *a;
  std::int64_t n;
  float rate, momentum;

  template <class Isa>
  static PINION_INLINE void run(const momentum_update* with, product_part part) {
    using V = ps::simd<float, Isa>;
    const V rate = with->rate, momentum = with->momentum;
    for (std::int64_t i = 0; i < part.rows; ++i)
      for (std::int64_t j = 0; j < part.columns; j += V::lanes) {
        const std::int64_t at = (part.i + i) * with->n + part.j + j;
        const V next = V::load(with->a + at) * momentum + V::load(part.c + i * part.ldc + j);
        next.store(with->a + at);
        (V::load(with->w + at) - next * rate).store(with->w + at);
      }
  }
};

// Does what Loop says with each part of a product.
template <class Loop>
product_end behind(const Loop& loop) {
  return {[](const void* with, product_part part) { ps::dispatch<Loop>(static_cast<const Loop*>(with), part); }, &loop};
}

// Logits without bias in, their gradients (of the mean over rows) out, in place; db and the mean loss beside. n of the
// 16 columns are used, and there is room for rows up to a multiple of 16. Turned by squares, so that lanes are rows.
struct bias_softmax_cross_entropy {
  static constexpr int columns = 16;

  template <class V>
  static PINION_VECTOR V ones_below(std::int64_t n) {
    float one[V::lanes];
    for (int i = 0; i < V::lanes; ++i) one[i] = i < n ? 1.0f : 0.0f;
    return V::load(one);
  }

  template <class Isa>
  static PINION_INLINE void run(float* z, const float* b, const std::int32_t* label, float* db, float* loss,
                                std::int64_t rows, std::int64_t n) {
    using T = product_tiles<Isa>;
    using V = typename T::V;
    constexpr int lanes = V::lanes;
    const float share = 1 / static_cast<float>(rows);
    float total = 0;
    for (std::int64_t r = 0; r < rows; ++r) total += z[r * columns + label[r]] + b[label[r]];
    V logarithms = 0.0f, slope[columns];
    for (V& s : slope) s = 0.0f;
    for (std::int64_t r = 0; r < rows; r += lanes) {
      V x[columns];
      for (int c = 0; c < columns; c += lanes) {
        for (int i = 0; i < lanes; ++i) x[c + i] = V::load(z + (r + i) * columns + c);
        T::template exchange<lanes / 2>(x + c, std::make_integer_sequence<int, lanes>{});
      }
      const V counts = ones_below<V>(rows - r);
      V greatest = x[0] + b[0], sum = 0.0f;
      for (std::int64_t c = 0; c < n; ++c) x[c] = x[c] + b[c], greatest = max(greatest, x[c]);
      for (std::int64_t c = 0; c < n; ++c) x[c] = exp(x[c] - greatest), sum = sum + x[c];
      logarithms = logarithms + (log(sum) + greatest) * counts;
      const V scale = counts * share / sum;
      for (std::int64_t c = 0; c < n; ++c) x[c] = x[c] * scale, slope[c] = slope[c] + x[c];
      for (int c = 0; c < columns; c += lanes) {
        T::template exchange<lanes / 2>(x + c, std::make_integer_sequence<int, lanes>{});
        for (int i = 0; i < lanes; ++i) x[c + i].store(z + (r + i) * columns + c);
      }
    }
    for (int c = 0; c < columns; ++c) db[c] = horizontal_sum(slope[c]);
    for (std::int64_t r = 0; r < rows; ++r) z[r * columns + label[r]] -= share, db[label[r]] -= share;
    *loss = (horizontal_sum(logarithms) - total) * share;
  }
};

class mlp {
 public:
  // Weights [in, out] and biases [out] of each layer, copied.
  mlp(const std::vector<pinion::tensor<float>>& weights, const std::vector<pinion::tensor<float>>& biases,
      std::int64_t rows, float rate, float momentum)
      : rows_(rows), rate_(rate), momentum_(momentum) {
    std::int64_t stored = weights[0].shape()[0], widest = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::int64_t in = weights[i].shape()[0], out = weights[i].shape()[1], n = whole(out);
      layer l{stored,
              n,
              out,
              2 * rows * in * out,
              filled(stored * n),
              filled(n),
              filled(stored * n),
              filled(n),
              filled(stored * n),
              filled(n),
              filled(whole(rows) * n)};
      for (std::int64_t r = 0; r < in; ++r) std::copy_n(weights[i].data() + r * out, out, at(l.w) + r * n);
      std::copy_n(biases[i].data(), out, at(l.b));
      layers_.push_back(std::move(l));
      widest = std::max(widest, n);
      stored = n;
    }
    for (auto& s : slopes_) s = filled(rows * widest);
  }

  // One step over a batch [rows, in]; returns its mean loss.
  float step(const float* x, const std::int32_t* labels) {
    for (std::size_t i = 0; i + 1 < layers_.size(); ++i) {
      auto& l = layers_[i];
      const bias_elu unit{at(l.b)};
      multiply("and ELU", output_of(i, x), behind(unit));
    }
    auto& top = layers_.back();
    multiply("", output_of(layers_.size() - 1, x), {});
    float mean = 0;
    timed("cross entropy", [&] {
      ps::dispatch<bias_softmax_cross_entropy>(at(top.y), static_cast<const float*>(at(top.b)), labels, at(top.db),
                                               &mean, rows_, top.used);
    });
    for (std::size_t i = layers_.size(); i-- > 0;) {
      auto& l = layers_[i];
      if (i > 0) {
        auto& below = layers_[i - 1];
        std::fill_n(at(below.db), below.out, 0.0f);
        const bias_elu_back unit{at(below.y), at(below.db), below.out};
        product_end end = behind(unit);
        end.wants[0] = unit.y;
        multiply("and ELU back", input_gradient_of(i), end);
      }
      const momentum_update update{at(l.w), at(l.aw), l.out, rate_, momentum_};
      product_end end = behind(update);
      end.wants[0] = update.w, end.wants[1] = update.a, end.consumes = true;
      if (i == 1) end.soon = x, end.soon_count = std::min<std::int64_t>(rows_, 128) * layers_[0].in;
      multiply("and update", weight_gradient_of(i, x), end);
      const momentum_update of_bias{at(l.b), at(l.ab), l.out, rate_, momentum_};
      ps::dispatch<momentum_update>(&of_bias, product_part{0, 1, 0, l.out, at(l.db), l.out});
    }
    return mean;
  }

  // The products of a step and nothing else.
  void products(const float* x) {
    for (std::size_t i = 0; i < layers_.size(); ++i) ideal::multiply(output_of(i, x));
    for (std::size_t i = layers_.size(); i-- > 0;) {
      if (i > 0) ideal::multiply(input_gradient_of(i));
      ideal::multiply(weight_gradient_of(i, x));
    }
  }
  // The floating-point operations of these products, without those of columns that are not used.
  double operations() const {
    double sum = 0;
    for (const auto& l : layers_) sum += static_cast<double>(l.operations) * (&l == &layers_[0] ? 2 : 3);
    return sum;
  }

  bench::call_times* times = nullptr;  // where the time of every product is written down, if anywhere

 private:
  struct layer {
    std::int64_t in, out;     // as they are stored
    std::int64_t used;        // of the columns
    std::int64_t operations;  // of one product
    pinion::any_tensor w, b, dw, db, aw, ab, y;
  };

  static std::int64_t whole(std::int64_t n) { return (n + 15) / 16 * 16; }
  static pinion::any_tensor filled(std::int64_t count) {
    pinion::tensor<float> t({count});
    std::fill_n(t.data(), count, 0.0f);
    return t.untyped();
  }
  static float* at(pinion::any_tensor& t) { return t.data<float>(); }

  template <class Body>
  void timed(const std::string& what, Body&& body) {
    if (times)
      times->call(what, body);
    else
      body();
  }
  const float* input(std::size_t i, const float* x) { return i > 0 ? at(layers_[i - 1].y) : x; }
  // The gradient of the logits is where they were.
  float* gradient(std::size_t i) { return at(i + 1 == layers_.size() ? layers_[i].y : slopes_[i % 2]); }
  pinion::op::product<float> output_of(std::size_t i, const float* x) {
    auto& l = layers_[i];
    return {input(i, x), at(l.w), at(l.y), rows_, l.out, l.in, false, false};
  }
  pinion::op::product<float> weight_gradient_of(std::size_t i, const float* x) {
    auto& l = layers_[i];
    return {input(i, x), gradient(i), at(l.dw), l.in, l.out, rows_, true, false};
  }
  pinion::op::product<float> input_gradient_of(std::size_t i) {
    auto& l = layers_[i];
    return {gradient(i), at(l.w), gradient(i - 1), rows_, l.in, l.out, false, true};
  }
  void multiply(const char* what, const pinion::op::product<float>& p, product_end end) {
    timed(times ? fmt::format("{} x {} x {}{}{} {}", p.m, p.n, p.k, p.transpose_a ? ", left transposed" : "",
                              p.transpose_b ? ", right transposed" : "", what)
                : "",
          [&] { ideal::multiply(p, end); });
  }

  std::int64_t rows_;
  float rate_, momentum_;
  std::vector<layer> layers_;
  pinion::any_tensor slopes_[2];  // of the outputs of every other layer
};

}  // namespace ideal
