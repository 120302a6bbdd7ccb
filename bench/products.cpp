// Matrix products in a step, beside the library called directly: the sizes of the MNIST step and squares, with operands
// as they are or stored transposed, in one and in two threads; and products that round their operands to bfloat16,
// beside those of floats.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <pinion/op/matmul/gemm.hpp>
#include <pinion/session.hpp>

#include "contest.hpp"
#include "limits.hpp"

namespace {

namespace pn = pinion;

// As many products a step as make the cost of a call small.
struct sizes {
  std::int64_t m, n, k;
  bool ta = false, tb = false;
  double operations() const { return 2.0 * static_cast<double>(m * n * k); }
  int repeats() const { return std::max(1, static_cast<int>(4e7 / operations())); }
  std::string text() const {
    return fmt::format("{}{} x {}{}", shape(m, k), ta ? "'" : "", shape(k, n), tb ? "'" : "");
  }
  static std::string shape(std::int64_t rows, std::int64_t columns) { return fmt::format("[{}, {}]", rows, columns); }
};

pn::tensor<float> filled(std::int64_t rows, std::int64_t columns) {
  pn::tensor<float> t({rows, columns});
  for (std::int64_t i = 0; i < t.size(); ++i) t.data()[i] = static_cast<float>(i % 97) / 97 - .5f;
  return t;
}

#if PINION_HAS_ONEDNN
// oneDNN with threads of its own, which pinion::op::gemm does not use.
void by_library(const pn::op::product<float>& p, int threads) {
#if PINION_HAS_GOMP
  omp_set_num_threads(threads);
#endif
  dnnl_sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n, p.k, 1, p.a, p.lda, p.b, p.ldb, 0, p.c,
             p.n);
}
#endif

void measure(const sizes& s) {
#if PINION_HAS_ONEDNN
  pn::graph g;
  const auto use = g.as_default();
  const auto a = s.ta ? filled(s.k, s.m) : filled(s.m, s.k), b = s.tb ? filled(s.n, s.k) : filled(s.k, s.n);
  const auto A = pn::placeholder<float>(a.shape()), B = pn::placeholder<float>(b.shape());
  // One product after the other: one may use two threads, but two do not run beside each other.
  pn::operation last;
  for (int i = 0; i < s.repeats(); ++i) {
    std::optional<pn::control_dependencies> after;
    if (i > 0) after.emplace(last);
    last = pn::matmul(A, B, {.transpose_a = s.ta, .transpose_b = s.tb});
  }
  pn::session one{{.inter_op_threads = 1, .intra_op_threads = 1, .optimize = false}};
  pn::session two{{.inter_op_threads = 1, .intra_op_threads = 2, .optimize = false}};
  auto step_one = one.make_callable(pn::feeds(A, B), pn::fetches(), pn::targets(last));
  auto step_two = two.make_callable(pn::feeds(A, B), pn::fetches(), pn::targets(last));
  pn::tensor<float> c({s.m, s.n});
  const pn::op::product<float> p{a.data(), b.data(), c.data(), s.m, s.n, s.k, s.ta, s.tb};
  const auto direct = [&](int threads) {
    for (int i = 0; i < s.repeats(); ++i) by_library(p, threads);
  };
  bench::contest cpu, wall;
  const int ours = cpu.add("pinion, 1 thread", bench::thread_seconds, [&] { step_one(a, b); });
  const int theirs = cpu.add("oneDNN, 1 thread", bench::thread_seconds, [&] { direct(1); });
  const int peak = cpu.add("multiply-adds at the peak", bench::thread_seconds,
                           [&] { bench::peak_operations(s.operations() * s.repeats()); });
  cpu.run(9);
  const int ours_two = wall.add("pinion, 2 threads", bench::wall_seconds, [&] { step_two(a, b); });
  const int theirs_two = wall.add("oneDNN, 2 threads", bench::wall_seconds, [&] { direct(2); });
  wall.run(9);
  cpu.row(s.text(), ours, theirs, bench::at_least(.98), s.repeats());
  wall.row(s.text(), ours_two, theirs_two, bench::at_least(1), s.repeats());
  cpu.row(s.text(), theirs, peak, bench::at_least(.75), s.repeats());
#else
  bench::print_missing(s.text(), "pinion was built without oneDNN");
#endif
}

// A product of floats that rounds its operands, as tr::mixed_precision makes it, beside one that does not.
void measure_rounded(std::int64_t side) {
  const std::string text = sizes{side, side, side}.text() + " rounded to bfloat16";
  if (!pn::op::has_fast_products(pn::dtype::bfloat16))
    return bench::print_missing(text, "the processor does not multiply such numbers");
  pn::graph g;
  const auto use = g.as_default();
  const auto a = filled(side, side);
  const auto A = pn::placeholder<float>(a.shape()), B = pn::placeholder<float>(a.shape());
  const auto product = [&](pn::dtype compute) {
    const auto inputs = {A.endpoint(g), B.endpoint(g)};
    return pn::operation(g, pn::build(g, {.op = "MatMul", .inputs = inputs, .attrs = {{"compute", compute}}}));
  };
  pn::session s{{.inter_op_threads = 1, .intra_op_threads = 1}};
  auto rounded = s.make_callable(pn::feeds(A, B), pn::fetches(), pn::targets(product(pn::dtype::bfloat16)));
  auto plain = s.make_callable(pn::feeds(A, B), pn::fetches(), pn::targets(product(pn::dtype::float32)));
  bench::contest c;
  const int ours = c.add("pinion, bfloat16", bench::thread_seconds, [&] { rounded(a, a); });
  const int theirs = c.add("pinion, float", bench::thread_seconds, [&] { plain(a, a); });
  c.run(9);
  c.row(text, ours, theirs, bench::at_most(side >= 1024 ? .65 : .75));
}

}  // namespace

int main() {
  for (const std::int64_t batch : {50, 512}) {
    measure({batch, 160, 784});
    measure({784, 160, batch, true});
    measure({batch, 160, 160});
    measure({160, 160, batch, true});
    measure({batch, 160, 160, false, true});
    measure({batch, 10, 160});
  }
  for (const std::int64_t side : {128, 256, 512, 1024, 2048}) {
    if (bench::quick() && side > 512) break;
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) measure({side, side, side, ta, tb});
    if (side >= 256) measure_rounded(side);
  }
}
