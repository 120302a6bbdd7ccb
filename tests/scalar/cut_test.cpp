// Programs that are too great for one node: derived by some inputs, simplified, cut into pieces.
#include <catch2/catch.hpp>

#include <map>
#include <random>

#include <pinion/op/elementwise/runner.hpp>
#include <pinion/scalar/cut.hpp>
#include <pinion/scalar/derive.hpp>
#include <pinion/scalar/derive_by.hpp>
#include <pinion/scalar/record.hpp>
#include <pinion/scalar/simplify.hpp>

namespace {

using namespace pinion;
using namespace pinion::scalar;
using value = symbol<program>;

// The results of a program at one point; masks are 0 or 1.
std::vector<double> at(const program& p, const std::vector<double>& x) {
  const op::program_runner run(p, op::program_runner::interpreter_only);
  std::vector<std::array<double, widest>> in(x.size()), out(p.results.size());
  std::vector<std::array<bool, widest>> masks(x.size());
  strip s;
  s.n = 1;
  for (std::size_t k = 0; k < x.size(); ++k) {
    in[k].fill(x[k]), masks[k].fill(x[k] != 0);
    s.in[k] = in[k].data(), s.advance[k] = 0;
  }
  for (const instruction& i : p.code)
    if (i.op == opcode::input_mask) s.in[i.a] = masks[i.a].data();
  for (std::size_t k = 0; k < p.results.size(); ++k) s.out[k] = out[k].data(), s.how[k] = sink::store;
  run(s);
  std::vector<double> y;
  for (std::size_t k = 0; k < p.results.size(); ++k)
    y.push_back(p.results[k].type == dtype::boolean ? double(reinterpret_cast<bool&>(out[k][0])) : out[k][0]);
  return y;
}

// The same, by the pieces.
std::vector<double> by_pieces(const program& p, const std::vector<piece>& pieces, const std::vector<double>& x) {
  std::vector<double> kept, y(p.results.size());
  for (const piece& part : pieces) {
    std::vector<double> in;
    for (const auto& s : part.inputs) in.push_back((s.of_piece ? kept : x)[static_cast<std::size_t>(s.index)]);
    const auto out = at(part.code, in);
    kept.push_back(out[0]);
    for (std::size_t k = 0; k < part.results.size(); ++k) y[static_cast<std::size_t>(part.results[k])] = out[k];
  }
  return y;
}

// A program of `n` instructions over `inputs` numbers, each of which takes what stands before it.
program any_program(unsigned seed, int inputs, int n) {
  std::mt19937 bits(seed);
  program p;
  p.arithmetic = dtype::float64;
  std::vector<value_id> numbers, masks;
  for (int i = 0; i < inputs; ++i) numbers.push_back(p.emit_input(false));
  numbers.push_back(p.emit_constant(1));
  numbers.push_back(p.emit_literal(.5));
  const auto one_of = [&](const std::vector<value_id>& all) { return all[bits() % all.size()]; };
  while (static_cast<int>(p.code.size()) < n) {
    const value_id a = one_of(numbers), b = one_of(numbers);
    switch (bits() % 8) {
      case 0: masks.push_back(p.emit(opcode::less, a, b)); break;
      case 1:
        if (!masks.empty()) numbers.push_back(p.emit(opcode::select, one_of(masks), a, b));
        break;
      case 2: numbers.push_back(p.emit(opcode::tanh, a)); break;
      case 3: numbers.push_back(p.emit(opcode::sin, a)); break;
      case 4: numbers.push_back(p.emit(opcode::multiply, p.emit(opcode::sin, a), b)); break;
      case 5:  // no chains of these, which stay in one piece
        if (p.code[a].op != opcode::partial) numbers.push_back(p.emit(opcode::partial, a, b, one_of(numbers)));
        break;
      default: numbers.push_back(p.emit(opcode::add, p.emit(opcode::tanh, b), a)); break;
    }
  }
  for (int k = 0; k < 3; ++k)
    p.results.push_back({numbers[numbers.size() - 1 - static_cast<std::size_t>(k)], p.arithmetic});
  return p;
}

std::vector<double> point(std::size_t n) {
  std::vector<double> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(.3 + .17 * static_cast<double>(i));
  return x;
}

bool close(const std::vector<double>& a, const std::vector<double>& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) same = std::abs(a[i] - b[i]) <= 1e-9 * (1 + std::abs(a[i]));
  return same;
}

}  // namespace

TEST_CASE("a program within bounds is one piece") {
  const program p = any_program(1, 4, 40);
  const auto pieces = cut(p);
  REQUIRE(pieces.size() == 1);
  CHECK(pieces[0].results == std::vector<int>{0, 1, 2});
}

TEST_CASE("pieces within narrow bounds compute what the whole computes") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const program p = any_program(seed, 6, 200);
    const program_bounds narrow{30, 7, 2};
    const std::vector<value_id> beside{0, 2, 5};
    for (const auto& next_to : {std::vector<value_id>{}, beside}) {
      const auto pieces = cut(p, next_to, narrow);
      const auto x = point(6);
      CHECK(close(by_pieces(p, pieces, x), at(p, x)));
      for (const piece& part : pieces) {
        CHECK(within(part.code, narrow));
        for (std::size_t k = 0; k < part.results.size() && !next_to.empty(); ++k)
          CHECK(part.inputs[k].index == next_to[static_cast<std::size_t>(part.results[k])]);
      }
    }
  }
}

TEST_CASE("simplified, a program computes the same, and no instruction stands in it twice") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const program p = any_program(seed, 3, 300), s = simplified(p);
    CHECK(close(at(s, point(3)), at(p, point(3))));
    std::map<std::tuple<opcode, value_id, value_id, value_id>, int> times;
    for (const instruction& in : s.code) CHECK(++times[{in.op, in.a, in.b, in.c}] == 1);
  }
}

TEST_CASE("derivatives by some inputs are those by all, forwards and backwards") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const program p = any_program(seed, 4, 60), all = derive(p);
    auto x = point(4);
    for (const double dy : {1., .5, -2.}) x.push_back(dy);
    const auto want = at(all, x);
    for (const std::vector<value_id>& by : {std::vector<value_id>{2}, {0, 3}, {0, 1, 2, 3}}) {
      const auto found = at(derive_by(p, by, {true, true, true}), x);
      for (std::size_t k = 0; k < by.size(); ++k) CHECK(found[k] == Approx(want[by[k]]).margin(1e-12));
    }
    auto without = x;
    without[5] = 0;  // the second result has no adjoint
    const auto fewer = at(derive_by(p, {1}, {true, false, true}), {x[0], x[1], x[2], x[3], x[4], x[6]});
    CHECK(fewer[0] == Approx(at(all, without)[1]).margin(1e-12));
  }
}

TEST_CASE("the n-th derivative of a product of functions grows like a polynomial of n") {
  program p;
  p.arithmetic = dtype::float64;
  const value x{&p, p.emit_input(false)};
  const value a = tanh(x), b = sin(x), c = exp(x);
  const value ab = a * b;
  p.results.push_back({(ab * c).id, p.arithmetic});
  std::size_t length = 0;
  for (int order = 1; order <= 8; ++order) p = derive_by(p, {0}, {true}), length = p.code.size();
  CHECK(length < program_bounds{}.instructions);
  CHECK(p.inputs == 9);
}

TEST_CASE("a program that cannot be named any more is refused") {
  program p;
  p.emit_input(false);
  const auto grow = [&] {
    for (;;) p.emit(opcode::sin, 0);
  };
  CHECK_THROWS_AS(grow(), error);
  CHECK(p.code.size() == most_values);
}
