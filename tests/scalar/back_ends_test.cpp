// Both back ends over strips: tails of every length, literals, casts, masks, sums.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include <pinion/op/elementwise/program.hpp>
#include <pinion/op/elementwise/runner.hpp>
#include <pinion/scalar/compiled.hpp>
#include <pinion/scalar/functors.hpp>

namespace {

using namespace pinion;
using namespace pinion::scalar;
using op::program_runner;

// (x < y ? 2.5 : x) + y, to int; and its condition.
using condition = dsl::mapped<functor::less, float, bool, dsl::number_argument, dsl::number_argument>;
using choice = dsl::mapped<functor::selection, float, float, condition, dsl::literal_argument, dsl::number_argument>;
using whole = dsl::mapped<functor::add, float, float, choice, dsl::number_argument>;
using cut = dsl::mapped<functor::identity, float, std::int32_t, dsl::number_argument>;
using picked =
    dsl::mapped<functor::selection, float, float, dsl::mask_argument, dsl::number_argument, dsl::literal_argument>;
using gradient =
    dsl::gradient_of<dsl::mapped<functor::multiply, float, float, dsl::number_argument, dsl::number_argument>>;
using whole_numbers =
    dsl::mapped<functor::multiply, std::int32_t, std::int32_t, dsl::number_argument, dsl::literal_argument>;

template <class P>
scalar::program program_of(std::vector<number> literals = {}) {
  (void)compile_program<P>::kernel;
  auto p = convert_program<scalar::program>(P::executable);
  for (std::size_t i = 0; i < literals.size(); ++i) p.literals[i] = literals[i];
  return p;
}

std::vector<float> numbers(int n, float step = 0.75f) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = step * static_cast<float>(i % 23) - 5;
  return x;
}

constexpr std::int64_t on = ~std::int64_t{0};
constexpr int longest = 3 * widest;

// Calls f(runner) for both back ends in every instruction set of this machine.
template <class F>
void for_each_back_end(const scalar::program& p, F&& f) {
  for (int i = 0; i <= isa::best(); ++i)
    for (auto which : {program_runner::any, program_runner::interpreter_only}) {
      const program_runner run(p, which, i);
      INFO(isa::name(i) << (which == program_runner::any ? ", compiled" : ", interpreted"));
      CHECK(run.compiled() == (which == program_runner::any));
      f(run);
    }
}

}  // namespace

TEST_CASE("strips of every length are computed to the end and no further") {
  for_each_back_end(program_of<whole>({2.5}), [](const program_runner& run) {
    for (int n = 0; n <= longest; ++n) {
      const auto x = numbers(n), y = numbers(n, -0.5f), z = numbers(n, 0.25f), w = numbers(n, 2);
      std::vector<float> out(static_cast<std::size_t>(n) + 1, -99);
      strip s;
      s.n = n;
      const std::vector<float>* in[] = {&x, &y, &z, &w};
      for (int k = 0; k < 4; ++k) s.in[k] = in[k]->data(), s.advance[k] = on;
      s.out[0] = out.data(), s.how[0] = sink::store;
      run(s);
      bool good = out.back() == -99;
      for (std::size_t i = 0; i < x.size(); ++i) good &= out[i] == (x[i] < y[i] ? 2.5f : z[i]) + w[i];
      INFO("length " << n);
      CHECK(good);
    }
  });
}

TEST_CASE("an element's result does not depend on where it stands") {
  using smooth = dsl::mapped<functor::hyperbolic_tangent, float, float, dsl::number_argument>;
  for_each_back_end(program_of<smooth>(), [](const program_runner& run) {
    const std::vector<float> x(longest, 0.3217f);
    std::vector<float> out(longest);
    strip s;
    s.n = longest - 5;
    s.in[0] = x.data(), s.advance[0] = on, s.out[0] = out.data(), s.how[0] = sink::store;
    run(s);
    CHECK(std::all_of(out.begin(), out.end() - 5, [&](float y) { return y == out[0]; }));
  });
}

TEST_CASE("an input that stays is the same for all elements") {
  for_each_back_end(program_of<whole>({-1}), [](const program_runner& run) {
    const auto x = numbers(37);
    alignas(64) float still[widest];
    std::fill_n(still, widest, 100.f);
    std::vector<float> out(37);
    strip s;
    s.n = 37;
    for (int k = 0; k < 4; ++k) s.in[k] = k == 0 ? x.data() : still, s.advance[k] = k == 0 ? on : 0;
    s.out[0] = out.data(), s.how[0] = sink::store;
    run(s);
    CHECK(out == std::vector<float>(37, 99));
  });
}

TEST_CASE("a cast truncates towards zero") {
  for_each_back_end(program_of<cut>(), [](const program_runner& run) {
    for (int n = 0; n <= longest; ++n) {
      const auto x = numbers(n);
      std::vector<std::int32_t> out(x.size() + 1, 77), want(x.begin(), x.end());
      want.push_back(77);
      strip s;
      s.n = n;
      s.in[0] = x.data(), s.advance[0] = on, s.out[0] = out.data(), s.how[0] = sink::store;
      run(s);
      CHECK(out == want);
    }
  });
}

TEST_CASE("bools go in and out as bytes") {
  const auto p = program_of<condition>(), q = program_of<picked>({-7});
  const auto x = numbers(longest), y = numbers(longest, -0.5f);
  for (int n = 0; n <= longest; ++n) {
    std::vector<unsigned char> less;
    for_each_back_end(p, [&](const program_runner& run) {
      auto out = std::make_unique<bool[]>(static_cast<std::size_t>(n) + 1);
      strip s;
      s.n = n;
      s.in[0] = x.data(), s.in[1] = y.data(), s.advance[0] = s.advance[1] = on, s.out[0] = out.get(),
      s.how[0] = sink::store;
      run(s);
      less.assign(out.get(), out.get() + n);
      bool good = !out[static_cast<std::size_t>(n)];
      for (std::size_t i = 0; i < less.size(); ++i) good &= less[i] == (x[i] < y[i]);
      CHECK(good);
    });
    for_each_back_end(q, [&](const program_runner& run) {
      std::vector<float> out(static_cast<std::size_t>(n));
      strip s;
      s.n = n;
      s.in[0] = less.data(), s.in[1] = x.data(), s.advance[0] = s.advance[1] = on, s.out[0] = out.data(),
      s.how[0] = sink::store;
      run(s);
      bool good = true;
      for (std::size_t i = 0; i < out.size(); ++i) good &= out[i] == (less[i] ? x[i] : -7);
      CHECK(good);
    });
  }
}

TEST_CASE("results are dropped, stored, added to what is there, or summed up") {
  for_each_back_end(program_of<gradient>(), [](const program_runner& run) {
    for (int n = 0; n <= longest; ++n) {
      std::vector<float> x(static_cast<std::size_t>(n)), y(x), dy(x.size(), 1), there(x.size() + 1, 10);
      std::iota(x.begin(), x.end(), 1.f);
      std::iota(y.begin(), y.end(), 2.f);
      float total = 1000;
      strip s;
      s.n = n;
      s.in[0] = x.data(), s.in[1] = y.data(), s.in[2] = dy.data();
      s.advance[0] = s.advance[1] = s.advance[2] = on;
      s.out[0] = there.data(), s.how[0] = sink::add;
      s.out[1] = &total, s.how[1] = sink::sum;
      run(s);
      INFO("length " << n);
      CHECK(total == 1000 + static_cast<float>(n * (n + 1) / 2));
      bool good = there.back() == 10;
      for (std::size_t i = 0; i < y.size(); ++i) good &= there[i] == 10 + y[i];
      CHECK(good);
      s.out[0] = nullptr, s.how[0] = sink::drop;
      s.out[1] = there.data(), s.how[1] = sink::store;
      run(s);
      CHECK(std::equal(x.begin(), x.end(), there.begin()));
    }
  });
}

TEST_CASE("integers wrap around") {
  for_each_back_end(program_of<whole_numbers>({std::int64_t{1} << 16}), [](const program_runner& run) {
    const std::vector<std::int32_t> x{1, -1, 1 << 16, (1 << 15) + 1, 7};
    std::vector<std::int32_t> out(5);
    strip s;
    s.n = 5;
    s.in[0] = x.data(), s.advance[0] = on, s.out[0] = out.data(), s.how[0] = sink::store;
    run(s);
    CHECK(out == std::vector<std::int32_t>{1 << 16, -(1 << 16), 0, INT32_MIN + (1 << 16), 7 << 16});
  });
}

TEST_CASE("the table finds a program by its structure, whatever its literals") {
  auto p = program_of<whole>({1}), q = program_of<whole>({2});
  CHECK(find_compiled(p) == find_compiled(q));
  CHECK(find_compiled(p) != nullptr);
  p.results[0].type = dtype::int32;
  CHECK(find_compiled(p) == nullptr);
}
