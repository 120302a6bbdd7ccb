// Rounding and exponentials in a unit that may be compiled for inexact arithmetic. Prints what is wrong.
#include <cmath>
#include <cstdio>

#include <pinion/op/elementwise/runner.hpp>
#include <pinion/scalar/symbol.hpp>

namespace {

using namespace pinion;
using namespace pinion::scalar;
using value = symbol<program>;

template <class T, class F>
int wrong(const char* name, F formula, double (*right)(double)) {
  program p;
  p.arithmetic = dtype_of<T>;
  p.results.push_back({formula(value{&p, p.emit_input(false)}).id, dtype_of<T>});
  int count = 0;
  for (const double x : {-3.7, -.5, .3, 1.5, 2.5, 7.9, 33.3, -60.}) {
    const T in = static_cast<T>(x);
    T out = 0;
    strip s;
    s.n = 1;
    s.in[0] = &in, s.advance[0] = ~std::int64_t{0};
    s.out[0] = &out, s.how[0] = sink::store;
    op::program_runner{p}(s);
    const double should = right(in);
    if (std::abs(out - should) <= 1e-5 * std::abs(should)) continue;
    std::printf("%s(%g) is %g, not %g\n", name, x, static_cast<double>(out), should);
    ++count;
  }
  return count;
}

template <class T>
int wrong_of_all() {
  return wrong<T>(
             "floor", [](value x) { return floor(x); }, std::floor) +
         wrong<T>(
             "round", [](value x) { return round(x); }, std::nearbyint) +
         wrong<T>(
             "exp", [](value x) { return exp(x); }, std::exp) +
         wrong<T>(
             "tanh", [](value x) { return tanh(x); }, std::tanh) +
         wrong<T>(
             "sin", [](value x) { return sin(x); }, std::sin);
}

}  // namespace

int main() {
  return wrong_of_all<float>() + wrong_of_all<double>();
}
