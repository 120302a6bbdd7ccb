// The interpreter: the bits of compiled kernels over many tiles, results over inputs, memory, and the plan of its
// steps.
#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include <pinion/op/elementwise/program.hpp>
#include <pinion/op/elementwise/runner.hpp>
#include <pinion/scalar/functors.hpp>
#include <pinion/scalar/tile_plan.hpp>

#include "support/counted_new.hpp"

namespace {

using namespace pinion;
using namespace pinion::scalar;
using op::program_runner;

using x = dsl::number_argument;
template <class F, class... A>
using number = dsl::mapped<F, float, float, A...>;

using smooth = number<functor::maximum, number<functor::hyperbolic_tangent, x>, number<functor::elu, x>>;
using less = dsl::mapped<functor::less, float, bool, x, x>;
using choice = number<functor::selection, less, number<functor::exponential, x>, dsl::literal_argument>;
using product = dsl::gradient_of<number<functor::multiply, x, x>>;
using clamped = number<functor::minimum, number<functor::maximum, x, dsl::literal_argument>, x>;
using cut = dsl::mapped<functor::identity, float, std::int32_t, number<functor::absolute, x>>;

template <class P>
scalar::program program_of() {
  (void)compile_program<P>::kernel;
  auto p = convert_program<scalar::program>(P::executable);
  for (scalar::number& n : p.literals) n = 2.5;
  return p;
}

constexpr std::int64_t all_bits = ~std::int64_t{0};
constexpr std::size_t many = 3 * 4096 + 7;  // tiles, and a rest

std::vector<float> numbers(std::size_t n, float step) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = step * static_cast<float>(i % 31) - 7;
  return values;
}

// A strip over inputs of its own, whose results are stored behind one another.
struct held_strip {
  std::vector<std::vector<float>> in, out;
  strip s;

  held_strip(const scalar::program& p, std::size_t n, sink how = sink::store) {
    for (std::size_t k = 0; k < p.inputs; ++k) in.push_back(numbers(n, 0.25f * static_cast<float>(k + 1)));
    out.assign(p.results.size(), std::vector<float>(n + 1, -99));
    s.n = static_cast<std::int64_t>(n);
    for (std::size_t k = 0; k < in.size(); ++k) s.in[k] = in[k].data(), s.advance[k] = all_bits;
    for (std::size_t k = 0; k < out.size(); ++k) s.out[k] = out[k].data(), s.how[k] = how;
  }
};

bool same_bits(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b) {
  for (std::size_t k = 0; k < a.size(); ++k)
    if (std::memcmp(a[k].data(), b[k].data(), a[k].size() * sizeof(float)) != 0) return false;
  return true;
}

// Runs a program by both back ends of each instruction set, and tells whether their results have the same bits.
template <class P>
bool back_ends_agree(sink how = sink::store) {
  const auto p = program_of<P>();
  bool agree = true;
  for (int i = 0; i <= isa::best(); ++i) {
    held_strip a(p, many, how), b(p, many, how);
    program_runner(p, program_runner::any, i)(a.s);
    program_runner(p, program_runner::interpreter_only, i)(b.s);
    agree &= same_bits(a.out, b.out);
  }
  return agree;
}

}  // namespace

TEST_CASE("over many tiles the interpreter has the bits of the compiled kernel") {
  CHECK(back_ends_agree<smooth>());
  CHECK(back_ends_agree<choice>());
  CHECK(back_ends_agree<clamped>());
  CHECK(back_ends_agree<cut>());
  CHECK(back_ends_agree<product>());
  CHECK(back_ends_agree<product>(sink::add));
}

TEST_CASE("a sum goes on from tile to tile") {
  const auto p = program_of<product>();
  for (int i = 0; i <= isa::best(); ++i) {
    held_strip h(p, many, sink::sum);
    double want = -99;
    for (std::size_t j = 0; j < many; ++j) h.in[0][j] = h.in[1][j] = float(j % 5), want += double(j % 5) * 2;
    std::fill(h.in[2].begin(), h.in[2].end(), 2.f);
    program_runner(p, program_runner::interpreter_only, i)(h.s);
    CHECK(h.out[0][0] == want);
    CHECK(h.out[1][0] == want);
    CHECK(h.out[0][1] == -99);
  }
}

TEST_CASE("results may lie over inputs, also over ones that are read later") {
  const auto p = program_of<product>();
  const program_runner run(p, program_runner::interpreter_only);
  held_strip apart(p, many);
  run(apart.s);
  for (const auto& [first, second] : {std::pair{0, 1}, {1, 0}, {2, 0}, {1, 2}}) {
    held_strip over(p, many);
    over.s.out[0] = over.in[static_cast<std::size_t>(first)].data();
    over.s.out[1] = over.in[static_cast<std::size_t>(second)].data();
    run(over.s);
    INFO("over inputs " << first << " and " << second);
    CHECK(std::equal(apart.out[0].begin(), apart.out[0].end() - 1, over.in[static_cast<std::size_t>(first)].begin()));
    CHECK(std::equal(apart.out[1].begin(), apart.out[1].end() - 1, over.in[static_cast<std::size_t>(second)].begin()));
  }
}

TEST_CASE("after the first run of a thread the interpreter allocates nothing") {
  const auto p = program_of<smooth>(), q = program_of<product>();
  const program_runner smoothly(p, program_runner::interpreter_only), product_of(q, program_runner::interpreter_only);
  held_strip a(p, many), b(q, many, sink::sum);
  smoothly(a.s), product_of(b.s);
  const std::size_t before = counted_new::calls_here;
  smoothly(a.s), product_of(b.s);
  CHECK(counted_new::calls_here == before);
}

TEST_CASE("cheap instructions run in pairs, and a comparison with each choice by it") {
  scalar::program p;
  p.arithmetic = dtype::float32;
  const auto a = p.emit_input(false), b = p.emit_input(false);
  const auto scaled = p.emit(opcode::add, p.emit(opcode::multiply, a, b), b);
  const auto rest = p.emit(opcode::subtract, a, p.emit(opcode::add, scaled, scaled));
  const auto positive = p.emit(opcode::less, a, b);
  const auto first = p.emit(opcode::select, positive, rest, a), second = p.emit(opcode::select, positive, a, rest);
  const auto gap = p.emit(opcode::subtract, first, second), square = p.emit(opcode::multiply, gap, gap);
  p.results = {{first, dtype::float32}, {square, dtype::float32}};
  std::vector<tile_op::form> forms;
  for (const auto& s : plan_tiles(p, true).steps) forms.push_back(s.op.is);
  CHECK(forms == std::vector{tile_op::left, tile_op::right, tile_op::choice, tile_op::choice, tile_op::square});
  CHECK(plan_tiles(p, false).steps.size() == 9);
}

TEST_CASE("a long chain of instructions takes one row") {
  scalar::program p;
  p.arithmetic = dtype::float32;
  value_id last = p.emit_input(false);
  for (int i = 0; i < 100; ++i) last = p.emit(opcode::tanh, last);
  p.results = {{last, dtype::float32}};
  CHECK(plan_tiles(p, true).rows == 1);
}
