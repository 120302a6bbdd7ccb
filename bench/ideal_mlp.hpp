// The training step of a multilayer perceptron written out by hand: the limit that the same graph is compared with.
//
//   x ── (GEMM ── bias, ELU) ... ── GEMM ── bias, softmax cross entropy ── and back, with one momentum update a tensor
//
// Same vectors and same maths as pinion's kernels, one thread; no graph, no allocation in a step, the activations in
// place, bias gradients folded into the pass that makes the gradient. Each product is the faster of pinion's library
// and one written by hand (hand_gemm.hpp), by a trial when the model is made.
#pragma once

#include <cstdint>
#include <vector>

#include <pinion/op/matmul/gemm.hpp>
#include <pinion/scalar/maths.hpp>
#include <pinion/tensor/tensor.hpp>

#include "call_times.hpp"
#include "hand_gemm.hpp"

namespace ideal {

using product_function = void (*)(const pinion::op::product<float>&);

// The faster way to a product, by turns of both.
inline product_function faster_way_to(const pinion::op::product<float>& p) {
  const product_function ways[] = {&multiply, &pinion::op::gemm<float>};
  std::vector<double> seconds[2];
  for (int turn = 0; turn < 30; ++turn)
    for (int way = 0; way < 2; ++way) {
      const double start = bench::thread_seconds();
      ways[way](p);
      seconds[way].push_back(bench::thread_seconds() - start);
    }
  return ways[bench::median(seconds[0]) < bench::median(seconds[1]) ? 0 : 1];
}

// Rows of n elements, n a multiple of every vector: y = elu(y + b).
struct bias_elu {
  template <class Isa>
  static PINION_INLINE void run(float* y, const float* b, std::int64_t rows, std::int64_t n) {
    using V = ps::simd<float, Isa>;
    for (std::int64_t r = 0; r < rows; ++r, y += n)
      for (std::int64_t i = 0; i < n; i += V::lanes) {
        const V x = V::load(y + i) + V::load(b + i);
        select(x > 0, x, expm1(x)).store(y + i);
      }
  }
};

// dy *= elu'(y), db = the sum of its rows. y says what the derivative is: 1 where positive, y + 1 elsewhere.
struct bias_elu_back {
  template <class Isa>
  static PINION_INLINE void run(const float* y, float* dy, float* db, std::int64_t rows, std::int64_t n) {
    using V = ps::simd<float, Isa>;
    for (std::int64_t i = 0; i < n; i += V::lanes) {
      V sum = 0.0f;
      for (std::int64_t r = 0; r < rows; ++r) {
        const V out = V::load(y + r * n + i);
        const V d = V::load(dy + r * n + i) * select(out > 0, V(1.0f), out + 1.0f);
        d.store(dy + r * n + i);
        sum = sum + d;
      }
      sum.store(db + i);
    }
  }
};

// Logits without bias in, their gradients (of the mean over rows) out, in place; db and the mean loss beside. n <= 16.
struct bias_softmax_cross_entropy {
  template <class Isa>
  static PINION_INLINE void run(float* z, const float* b, const std::int32_t* label, float* db, float* loss,
                                std::int64_t rows, std::int64_t n) {
    using V = ps::simd<float, Isa>;
    const float share = 1 / static_cast<float>(rows);
    float total = 0;
    for (std::int64_t i = 0; i < n; ++i) db[i] = 0;
    for (std::int64_t r = 0; r < rows; ++r, z += n) {
      float greatest = z[0] + b[0], sum = 0, e[16];
      for (std::int64_t i = 0; i < n; ++i) z[i] += b[i], greatest = z[i] > greatest ? z[i] : greatest;
      for (std::int64_t i = 0; i < n; i += V::lanes)
        exp(V::load(z + i, static_cast<int>(n - i)) - greatest).store(e + i);
      for (std::int64_t i = 0; i < n; ++i) sum += e[i];
      total += log(V(sum))[0] - (z[label[r]] - greatest);
      const float scale = share / sum;
      for (std::int64_t i = 0; i < n; ++i) z[i] = e[i] * scale - (i == label[r] ? share : 0), db[i] += z[i];
    }
    *loss = total * share;
  }
};

// a = momentum a + g; w -= rate a
struct momentum_update {
  template <class Isa>
  static PINION_INLINE void run(float* w, float* a, const float* g, std::int64_t n, float rate, float momentum) {
    using V = ps::simd<float, Isa>;
    std::int64_t i = 0;
    for (; i + V::lanes <= n; i += V::lanes) {
      const V next = V::load(a + i) * V(momentum) + V::load(g + i);
      next.store(a + i);
      (V::load(w + i) - next * V(rate)).store(w + i);
    }
    for (; i < n; ++i) {
      a[i] = a[i] * momentum + g[i];
      w[i] -= a[i] * rate;
    }
  }
};

class mlp {
 public:
  // Weights [in, out] and biases [out] of each layer, copied.
  mlp(const std::vector<pinion::tensor<float>>& weights, const std::vector<pinion::tensor<float>>& biases,
      std::int64_t rows, float rate, float momentum)
      : rows_(rows), rate_(rate), momentum_(momentum) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::int64_t in = weights[i].shape()[0], out = weights[i].shape()[1];
      layers_.push_back({in,
                         out,
                         copy(weights[i]),
                         copy(biases[i]),
                         room({in, out}),
                         room({out}),
                         room({in, out}),
                         room({out}),
                         room({rows, out}),
                         room({rows, out}),
                         {},
                         {},
                         {}});
    }
    const auto x = room({rows, layers_[0].in});
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      auto& l = layers_[i];
      l.forward = faster_way_to(output_of(i, x.data<float>()));
      l.weights = faster_way_to(weight_gradient_of(i, x.data<float>()));
      if (i > 0) l.input = faster_way_to(input_gradient_of(i));
    }
  }

  // One step over a batch [rows, in]; returns its mean loss.
  float step(const float* x, const std::int32_t* labels) {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      auto& l = layers_[i];
      forward(i, x);
      if (&l != &layers_.back()) run<bias_elu>("bias, ELU", l.y.data<float>(), l.b.data<float>(), rows_, l.out);
    }
    auto& top = layers_.back();
    float mean = 0;
    run<bias_softmax_cross_entropy>("cross entropy", top.y.data<float>(), top.b.data<float>(), labels,
                                    top.db.data<float>(), &mean, rows_, top.out);
    for (std::size_t i = layers_.size(); i-- > 0;) {
      auto& l = layers_[i];
      if (&l != &top)
        run<bias_elu_back>("bias, ELU backward", l.y.data<float>(), l.dy.data<float>(), l.db.data<float>(), rows_,
                           l.out);
      backward(i, x);
    }
    for (auto& l : layers_) {
      run<momentum_update>("momentum", l.w.data<float>(), l.aw.data<float>(), l.dw.data<float>(), l.w.count(), rate_,
                           momentum_);
      run<momentum_update>("momentum", l.b.data<float>(), l.ab.data<float>(), l.db.data<float>(), l.out, rate_,
                           momentum_);
    }
    return mean;
  }

  // The products of a step and nothing else.
  void products(const float* x) {
    for (std::size_t i = 0; i < layers_.size(); ++i) forward(i, x);
    for (std::size_t i = layers_.size(); i-- > 0;) backward(i, x);
  }
  // The floating-point operations of these products.
  double operations() const {
    double sum = 0;
    for (const auto& l : layers_) sum += static_cast<double>(2 * rows_ * l.in * l.out) * (&l == &layers_[0] ? 2 : 3);
    return sum;
  }

  bench::call_times* times = nullptr;  // where the time of every loop is written down, if anywhere

 private:
  struct layer {
    std::int64_t in, out;
    pinion::any_tensor w, b, dw, db, aw, ab, y, dy;
    product_function forward, weights, input;
  };

  static pinion::any_tensor room(const pinion::shape& extent) { return pinion::tensor<float>(extent).untyped(); }
  static pinion::any_tensor copy(const pinion::tensor<float>& t) {
    return pinion::tensor<float>(t.shape(), t.span()).untyped();
  }

  template <class Body>
  void timed(const std::string& what, Body&& body) {
    if (times)
      times->call(what, body);
    else
      body();
  }
  template <class Loop, class... A>
  void run(const char* what, A... a) {
    timed(what, [&] { ps::dispatch<Loop>(a...); });
  }
  const float* input(std::size_t i, const float* x) const { return i > 0 ? layers_[i - 1].y.data<float>() : x; }
  // The gradient of the logits is where they were.
  const float* gradient(std::size_t i) const {
    return i + 1 == layers_.size() ? layers_[i].y.data<float>() : layers_[i].dy.data<float>();
  }
  pinion::op::product<float> output_of(std::size_t i, const float* x) {
    auto& l = layers_[i];
    return {input(i, x), l.w.data<float>(), l.y.data<float>(), rows_, l.out, l.in, false, false};
  }
  pinion::op::product<float> weight_gradient_of(std::size_t i, const float* x) {
    auto& l = layers_[i];
    return {input(i, x), gradient(i), l.dw.data<float>(), l.in, l.out, rows_, true, false};
  }
  pinion::op::product<float> input_gradient_of(std::size_t i) {
    auto& l = layers_[i];
    auto& below = layers_[i - 1].dy;
    return {gradient(i), l.w.data<float>(), below.data<float>(), rows_, l.in, l.out, false, true};
  }
  void forward(std::size_t i, const float* x) { multiply(layers_[i].forward, output_of(i, x)); }
  void backward(std::size_t i, const float* x) {
    multiply(layers_[i].weights, weight_gradient_of(i, x));
    if (i > 0) multiply(layers_[i].input, input_gradient_of(i));
  }
  void multiply(product_function way, const pinion::op::product<float>& p) {
    timed(times ? fmt::format("{}{} x {} x {}{}{}", way == &ideal::multiply ? "by hand " : "library ", p.m, p.n, p.k,
                              p.transpose_a ? ", left transposed" : "", p.transpose_b ? ", right transposed" : "")
                : "",
          [&] { way(p); });
  }

  std::int64_t rows_;
  float rate_, momentum_;
  std::vector<layer> layers_;
};

}  // namespace ideal
