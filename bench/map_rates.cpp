// Elementwise kernels beside the same loops written out, over buffers from the first-level cache to the memory: flat,
// by rows, over narrow rows, and gradients.
//
//   map_rates [bytes of one operand, at most; default 268435456]
//
// Both are timed by turns in one thread, in processor time. A row has the median nanoseconds for an element of each,
// the rate of the memory that this is, and the median over turns of the ratio of both. At the largest sizes the loop by
// hand is as fast as the memory, so that a ratio there is one to bandwidth.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <pinion/graph.hpp>
#include <pinion/op/elementwise/launch.hpp>
#include <pinion/op/variable/rule.hpp>
#include <pinion/op/variable/rules.hpp>
#include <pinion/scalar/maths.hpp>

#include "contest.hpp"

namespace {

namespace pn = pinion;
namespace ps = pinion::scalar;

// ---- by hand: rows of n elements, one vector behind the other; the last one is cut

struct itself {
  template <class V>
  static PINION_INLINE V of(V x) {
    return x;
  }
};
struct elu {
  template <class V>
  static PINION_INLINE V of(V x) {
    return select(x > 0, x, expm1(x));
  }
};
// y = F(x + b)
template <class F>
struct bias_rows {
  template <class Isa>
  static PINION_INLINE void run(const float* x, const float* b, std::int64_t step, float* y, std::int64_t rows,
                                std::int64_t n) {
    using V = ps::simd<float, Isa>;
    for (std::int64_t r = 0; r < rows; ++r, x += n, b += step, y += n) {
      std::int64_t i = 0;
      for (; i + V::lanes <= n; i += V::lanes) F::of(V::load(x + i) + V::load(b + i)).store(y + i);
      if (const int rest = static_cast<int>(n - i); rest > 0)
        F::of(V::load(x + i, rest) + V::load(b + i, rest)).store(y + i, rest);
    }
  }
};

struct product_back {
  template <class Isa>
  static PINION_INLINE void run(const float* x, const float* b, const float* dy, float* dx, float* db, std::int64_t n) {
    using V = ps::simd<float, Isa>;
    for (std::int64_t i = 0; i < n; i += V::lanes) {
      const V d = V::load(dy + i);
      (d * V::load(b + i)).store(dx + i);
      (d * V::load(x + i)).store(db + i);
    }
  }
};

// The gradient of elu(x + b) from the output y; db is the sum over rows.
struct elu_back {
  template <class Isa>
  static PINION_INLINE void run(const float* y, const float* dy, float* dx, float* db, std::int64_t rows,
                                std::int64_t n) {
    using V = ps::simd<float, Isa>;
    for (std::int64_t i = 0; i < n; ++i) db[i] = 0;
    for (std::int64_t r = 0; r < rows; ++r, y += n, dy += n, dx += n)
      for (std::int64_t i = 0; i < n; i += V::lanes) {
        const int rest = static_cast<int>(std::min<std::int64_t>(n - i, V::lanes));
        const V out = V::load(y + i, rest);
        const V d = V::load(dy + i, rest) * select(out > 0, V(1.0f), out + 1.0f);
        d.store(dx + i, rest);
        (V::load(db + i, rest) + d).store(db + i, rest);
      }
  }
};

struct momentum {
  template <class Isa>
  static PINION_INLINE void run(float* w, float* m, const float* g, std::int64_t n) {
    using V = ps::simd<float, Isa>;
    for (std::int64_t i = 0; i < n; i += V::lanes) {
      const V v = V::load(m + i) * 0.9f + V::load(g + i);
      v.store(m + i);
      (V::load(w + i) - v * 0.01f).store(w + i);
    }
  }
};

// ---- the library's kernels

pn::any_tensor filled(const pn::shape& extent, int period) {
  pn::any_tensor x(pn::dtype_of<float>, extent);
  for (std::int64_t i = 0; i < x.count(); ++i) x.data<float>()[i] = static_cast<float>(i % period) / 77 - 0.6f;
  return x;
}

// One launch of a program, again and again.
std::function<void()> launch_of(const ps::program& p, const std::vector<pn::any_tensor>& inputs,
                                const std::vector<pn::any_tensor>& results) {
  using namespace pn::op;
  const auto runner = std::make_shared<program_runner>(p);
  if (!runner->compiled()) fmt::print("the next kernel is interpreted\n");
  const auto layout = std::make_shared<const map_layout>(shapes_of(inputs), map_layout::space_of(shapes_of(inputs)),
                                                         shapes_of(results), runner->program());
  return [=] {
    map_launch launch(*runner, layout);
    for (const auto& t : inputs) launch.operand(t);
    for (const auto& t : results) launch.operand(t);
    pn::task_services alone;
    launch.run(alone);
  };
}

// The program and the operands of the gradient of y = f(x, b).
struct gradient_case {
  ps::program program;
  std::vector<pn::any_tensor> inputs;
};
gradient_case gradient(const pn::expr<float>& y, const pn::expr<float>& x, const pn::expr<float>& b,
                       const std::vector<pn::any_tensor>& x_b_y_dy) {
  const auto dy = pn::placeholder<float>(y.shape());
  const auto weighted = y * dy;
  const auto [dx, db] = pn::gradients(pn::reduce_sum(weighted), x, b);
  const pn::node& n = dx.node();
  gradient_case found{pn::op::program_of(n.attrs), {}};
  const pn::graph& g = y.owner();
  for (const auto& in : n.inputs)
    found.inputs.push_back(x_b_y_dy[in.node == x.id(g) ? 0 : in.node == b.id(g) ? 1 : in.node == y.id(g) ? 2 : 3]);
  return found;
}

ps::program momentum_program() {
  pn::op::instantiate_rule<pn::rules::momentum>();
  return pn::op::rule_program<pn::rules::momentum, pn::op::rate_is::literal>(pn::dtype_of<float>, {.01, .9});
}

// ---- timing

double seconds(const std::function<void()>& f, int calls) {
  const double start = bench::thread_seconds();
  for (int i = 0; i < calls; ++i) f();
  return (bench::thread_seconds() - start) / calls;
}

void compare(const std::string& name, std::int64_t elements, double bytes_an_element,
             const std::function<void()>& library, const std::function<void()>& hand) {
  library(), hand();
  const int calls = static_cast<int>(std::clamp(1e-3 / seconds(hand, 3), 1.0, 1e6));
  std::vector<double> ours, by_hand, ratios;
  for (int turn = 0; turn < (calls > 1 ? 41 : 9); ++turn) {
    const double one = seconds(library, calls), other = seconds(hand, calls);
    ours.push_back(one), by_hand.push_back(other), ratios.push_back(other / one);
  }
  const double n = static_cast<double>(elements);
  const auto rate = [&](double seconds) {
    return fmt::format("{:.3f} ns, {:.1f} GB/s", seconds / n * 1e9, bytes_an_element * n / seconds * 1e-9);
  };
  bench::print_row(name, "kernel", "loop by hand", rate(bench::median(ours)), rate(bench::median(by_hand)),
                   bench::median(ratios), bench::at_least(.95));
}

std::string size_name(std::int64_t bytes) {
  return bytes >= 1 << 20 ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} KiB", bytes >> 10);
}

// Maps of x of some rows, with b of one row or of as many.
void maps(const std::string& where, const pn::shape& extent, const pn::shape& b_extent) {
  const auto x = filled(extent, 100), b = filled(b_extent, 77), y = filled(extent, 3), dy = filled(extent, 13);
  auto dx = filled(extent, 2), db = filled(b_extent, 2);
  const std::int64_t n = extent.rank() == 1 ? extent[0] : extent[1], rows = x.count() / n,
                     step = b.count() == x.count() ? n : 0;
  pn::graph g;
  const auto use = g.as_default();
  const auto left = pn::placeholder<float>(extent), right = pn::placeholder<float>(b_extent);
  const auto program = [](const auto& e) { return pn::op::program_of(e.node().attrs); };
  const double b_bytes = step ? 4 : 0;
  const float *px = x.data<float>(), *pb = b.data<float>(), *py = y.data<float>(), *pdy = dy.data<float>();
  float *pdx = dx.data<float>(), *pdb = db.data<float>();
  compare("x + b " + where, x.count(), 8 + b_bytes, launch_of(program(left + right), {x, b}, {dx}),
          [=] { ps::dispatch<bias_rows<itself>>(px, pb, step, pdx, rows, n); });
  const auto activated = pn::elu(left + right);
  compare("elu(x + b) " + where, x.count(), 8 + b_bytes, launch_of(program(activated), {x, b}, {dx}),
          [=] { ps::dispatch<bias_rows<elu>>(px, pb, step, pdx, rows, n); });
  if (step) {
    const auto back = gradient(left * right, left, right, {x, b, y, dy});
    compare("gradient of x * b " + where, x.count(), 20, launch_of(back.program, back.inputs, {dx, db}),
            [=] { ps::dispatch<product_back>(px, pb, pdy, pdx, pdb, n); });
    compare("momentum " + where, x.count(), 20, launch_of(momentum_program(), {dx, db, dy}, {dx, db}),
            [=] { ps::dispatch<momentum>(pdx, pdb, pdy, n); });
  } else {
    const auto back = gradient(activated, left, right, {x, b, y, dy});
    compare("gradient of elu(x + b) " + where, x.count(), 12, launch_of(back.program, back.inputs, {dx, db}),
            [=] { ps::dispatch<elu_back>(py, pdy, pdx, pdb, rows, n); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t most = argc > 1 ? std::atoll(argv[1]) : std::int64_t{256} << 20;
  for (std::int64_t bytes = 4 << 10; bytes <= most; bytes *= 16)
    maps("flat, " + size_name(bytes), pn::shape{bytes / 4}, pn::shape{bytes / 4});
  for (std::int64_t bytes = 64 << 10; bytes <= most; bytes *= 64)
    maps("by rows of 1000, " + size_name(bytes), pn::shape{bytes / 4000, 1000}, pn::shape{1000});
  maps("[50, 500]", {50, 500}, {500});
  maps("[50, 10]", {50, 10}, {10});
  maps("[1000, 3]", {1000, 3}, {3});
}
