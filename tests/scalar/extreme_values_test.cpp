// Functions and their derivatives to the third order at extreme values, beside closed forms in long double.
#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <pinion/op/elementwise/runner.hpp>
#include <pinion/scalar/derive.hpp>
#include <pinion/scalar/functors.hpp>
#include <pinion/scalar/functors_of_maths.hpp>
#include <pinion/scalar/symbol.hpp>

namespace {

using namespace pinion;
using namespace pinion::scalar;
using value = symbol<program>;
using real = long double;

constexpr int orders = 4;  // the value and three derivatives

// Where a result that is small beside 1 has its own digits. Elsewhere it is the rest of a difference of numbers near 1,
// as in TensorFlow's formulas.
enum class precise { nowhere, below_0, everywhere };

struct row {
  const char* name;
  std::function<value(value)> formula;
  std::function<real(int, real)> derivative;  // of an order
  precise where = precise::nowhere;
  bool is_program = false;  // of the primitives, so that a flow of 0 is multiplied by the slope
};

real logistic(int order, real x) {
  const real s = 1 / (1 + std::exp(-x)), slope = s * (1 / (1 + std::exp(x)));
  switch (order) {
    case 0: return s;
    case 1: return slope;
    case 2: return slope * (1 - 2 * s);
    default: return slope * (1 - 6 * s + 6 * s * s);
  }
}
real softplus(int order, real x) {
  return order > 0 ? logistic(order - 1, x) : std::max<real>(x, 0) + std::log1p(std::exp(-std::abs(x)));
}
real tanh_of(int order, real x) {
  const real t = std::tanh(x), slope = 1 / (std::cosh(x) * std::cosh(x));
  switch (order) {
    case 0: return t;
    case 1: return slope;
    case 2: return -2 * t * slope;
    default: return slope * (6 * t * t - 2);
  }
}
real tanh_of_softplus(int order, real x) {
  const real s = softplus(0, x), a = logistic(0, x), b = logistic(1, x), c = logistic(2, x);
  switch (order) {
    case 0: return tanh_of(0, s);
    case 1: return tanh_of(1, s) * a;
    case 2: return tanh_of(2, s) * a * a + tanh_of(1, s) * b;
    default: return tanh_of(3, s) * a * a * a + 3 * tanh_of(2, s) * a * b + tanh_of(1, s) * c;
  }
}
// x times a function.
template <class F>
real times_x(F f, int order, real x) {
  return x * f(order, x) + (order > 0 ? order * f(order - 1, x) : 0);
}
real erf_of(int order, real x) {
  const real slope = 2 / std::sqrt(std::acos(real(-1))) * std::exp(-x * x);
  switch (order) {
    case 0: return std::erf(x);
    case 1: return slope;
    case 2: return -2 * x * slope;
    default: return (4 * x * x - 2) * slope;
  }
}
// x to a power, by factors of its derivatives.
real power_of(real exponent, int order, real x) {
  real factor = 1;
  for (int i = 0; i < order; ++i) factor *= exponent--;
  return factor * std::pow(x, exponent);
}
real log_of(int order, real x) {
  return order > 0 ? power_of(-1, order - 1, x) : std::log(x);
}
real sine_shifted(int quarters, real x) {
  switch (quarters % 4) {
    case 0: return std::sin(x);
    case 1: return std::cos(x);
    case 2: return -std::sin(x);
    default: return -std::cos(x);
  }
}
// A polygon: a value, a slope, and 0.
real line(int order, real y, real slope) {
  return order == 0 ? y : order == 1 ? slope : 0;
}
real elu_of(int order, real x) {
  if (x < 0) return order == 0 ? std::expm1(x) : std::exp(x);
  return line(order, x, 1);
}

real gelu_of(int order, real x) {
  const real density = std::exp(-x * x / 2) / std::sqrt(2 * std::acos(real(-1)));
  switch (order) {
    case 0: return x * std::erfc(-x / std::sqrt(real(2))) / 2;
    case 1: return std::erfc(-x / std::sqrt(real(2))) / 2 + x * density;
    case 2: return (2 - x * x) * density;
    default: return x * (x * x - 4) * density;
  }
}
real selu_of(int order, real x) {
  const real slope = 1.0507009873554805L, floor = 1.7580993408473766L;
  if (x < 0) return floor * (order == 0 ? std::expm1(x) : std::exp(x));
  return line(order, slope * x, slope);
}

// Functions of functors_of_maths.hpp.
real tan_of(int order, real x) {
  const real t = std::tan(x), slope = 1 + t * t;
  switch (order) {
    case 0: return t;
    case 1: return slope;
    case 2: return 2 * t * slope;
    default: return (2 + 6 * t * t) * slope;
  }
}
// Derivatives, from the first, of the function whose slope is 1 / (1 + s x^2).
real of_inverse_square(int order, real x, int s) {
  const real d = 1 + s * x * x;
  return order == 1 ? 1 / d : order == 2 ? -2 * s * x / (d * d) : (6 * x * x - 2 * s) / (d * d * d);
}
// Derivatives, from the first, of the function whose slope is 1 / sqrt(a + s x^2).
real of_inverse_root(int order, real x, int a, int s) {
  const real d = a + s * x * x, slope = 1 / std::sqrt(d);
  return order == 1 ? slope : order == 2 ? -s * x * slope / d : (2 * x * x - a * s) * slope / d / d;
}
real softsign_of(int order, real x) {
  const real m = 1 + std::abs(x), sign = x > 0 ? 1 : x < 0 ? -1 : 0;
  switch (order) {
    case 0: return x / m;
    case 1: return 1 / (m * m);
    case 2: return -2 * sign / (m * m * m);
    default: return 6 * sign * sign / (m * m * m * m);
  }
}

template <class F>
value apply(value x) {
  return F::apply(x);
}

std::vector<row> rows_of_maths() {
  using precise::everywhere;
  using precise::nowhere;
  namespace f = functor;
  const real ln2 = std::log(real(2)), ln10 = std::log(real(10));
  return {
      {"tan", apply<f::tangent>, tan_of, nowhere, true},
      {"asin", apply<f::arc_sine>, [](int k, real x) { return k > 0 ? of_inverse_root(k, x, 1, -1) : std::asin(x); },
       nowhere, true},
      {"acos", apply<f::arc_cosine>, [](int k, real x) { return k > 0 ? -of_inverse_root(k, x, 1, -1) : std::acos(x); },
       nowhere, true},
      {"atan", apply<f::arc_tangent>, [](int k, real x) { return k > 0 ? of_inverse_square(k, x, 1) : std::atan(x); },
       everywhere, true},
      {"sinh", apply<f::hyperbolic_sine>, [](int k, real x) { return k % 2 ? std::cosh(x) : std::sinh(x); }, everywhere,
       true},
      {"cosh", apply<f::hyperbolic_cosine>, [](int k, real x) { return k % 2 ? std::sinh(x) : std::cosh(x); },
       everywhere, true},
      {"asinh", apply<f::inverse_hyperbolic_sine>,
       [](int k, real x) { return k > 0 ? of_inverse_root(k, x, 1, 1) : std::asinh(x); }, everywhere, true},
      {"acosh", apply<f::inverse_hyperbolic_cosine>,
       [](int k, real x) { return x < 1   ? NAN
                                  : k > 0 ? of_inverse_root(k, x, -1, 1)
                                          : std::acosh(x); }, nowhere, true},
      {"atanh", apply<f::inverse_hyperbolic_tangent>,
       [](int k, real x) { return k > 0 ? of_inverse_square(k, x, -1) : std::atanh(x); }, nowhere, true},
      {"expm1", apply<f::exponential_minus_one>, [](int k, real x) { return k > 0 ? std::exp(x) : std::expm1(x); },
       nowhere, true},
      {"log2", apply<f::logarithm_to_base_2>, [=](int k, real x) { return log_of(k, x) / ln2; }, everywhere, true},
      {"log10", apply<f::logarithm_to_base_10>, [=](int k, real x) { return log_of(k, x) / ln10; }, everywhere, true},
      {"exp2", apply<f::power_of_2>, [=](int k, real x) { return std::pow(ln2, k) * std::pow(real(2), x); }, everywhere,
       true},
      {"reciprocal", apply<f::inverse>, [](int k, real x) { return power_of(-1, k, x); }, everywhere, true},
      {"trunc", apply<f::truncated>, [](int k, real x) { return line(k, std::trunc(x), 0); }, everywhere, true},
      {"logsigmoid", apply<f::log_logistic>,
       [](int k, real x) { return k == 2  ? -logistic(1, -x)
                                  : k > 0 ? logistic(k - 1, -x)
                                          : -softplus(0, -x); },
       nowhere, true},
      {"softsign", apply<f::soft_sign>, softsign_of, everywhere, true},
  };
}

std::vector<row> rows_of_primitives() {
  using precise::below_0;
  using precise::everywhere;
  namespace f = functor;
  return {
      {"negate", apply<f::negate>, [](int k, real x) { return line(k, -x, -1); }, everywhere},
      {"abs", apply<f::absolute>,
       [](int k, real x) {
         return line(k, std::abs(x), x > 0 ? 1 : x < 0 ? -1 : 0);
       },
       everywhere},
      {"sign", apply<f::sign_of>, [](int k, real x) { return line(k, x == 0 ? 0 : x / std::abs(x), 0); }, everywhere},
      {"square", apply<f::squared>, [](int k, real x) { return k == 2 ? 2 : line(k, x * x, 2 * x); }, everywhere},
      {"relu", apply<f::relu>, [](int k, real x) { return line(k, x <= 0 ? 0 : x, x > 0); }, everywhere},
      {"exp", apply<f::exponential>, [](int, real x) { return std::exp(x); }, everywhere},
      {"log", apply<f::logarithm>, log_of, everywhere},
      {"log1p", apply<f::log_one_plus>,
       [](int k, real x) { return k > 0 ? power_of(-1, k - 1, x + 1) : std::log1p(x); }, everywhere},
      {"sqrt", apply<f::square_root>, [](int k, real x) { return power_of(.5, k, x); }, everywhere},
      {"rsqrt", apply<f::reciprocal_square_root>, [](int k, real x) { return power_of(-.5, k, x); }, everywhere},
      {"tanh", apply<f::hyperbolic_tangent>, tanh_of},
      {"erf", apply<f::error_function>, erf_of},
      {"erfc", apply<f::complementary_error_function>,
       [](int k, real x) { return k > 0 ? -erf_of(k, x) : std::erfc(x); }},
      {"sin", apply<f::sine>, [](int k, real x) { return sine_shifted(k, x); }},
      {"cos", apply<f::cosine>, [](int k, real x) { return sine_shifted(k + 1, x); }},
      {"floor", apply<f::floored>, [](int k, real x) { return line(k, std::floor(x), 0); }, everywhere},
      {"ceil", apply<f::ceiled>, [](int k, real x) { return line(k, std::ceil(x), 0); }, everywhere},
      {"round", apply<f::rounded>, [](int k, real x) { return line(k, std::nearbyint(x), 0); }, everywhere},
      {"elu", apply<f::elu>, elu_of},
      {"sigmoid", apply<f::sigmoid>, logistic, below_0},
      {"softplus", apply<f::softplus>, softplus, below_0},
      {"2 sigmoid", [](value x) { return 2.0 * f::sigmoid::apply(x); },
       [](int k, real x) { return 2 * logistic(k, x); }, below_0},
      {"x sigmoid", [](value x) { return x * f::sigmoid::apply(x); },
       [](int k, real x) { return times_x(logistic, k, x); }, below_0},
      {"silu", apply<f::silu>, [](int k, real x) { return times_x(logistic, k, x); }, below_0},
      {"gelu", apply<f::gelu>, gelu_of},
      {"selu", apply<f::selu>, selu_of},
      {"mish", apply<f::mish>, [](int k, real x) { return times_x(tanh_of_softplus, k, x); }, below_0},
      {"x tanh(softplus)", [](value x) { return x * tanh(f::softplus::apply(x)); },
       [](int k, real x) { return times_x(tanh_of_softplus, k, x); }, below_0},
      {"1 / x", [](value x) { return 1.0 / x; }, [](int k, real x) { return power_of(-1, k, x); }, everywhere},
      {"x / 3", [](value x) { return x / 3.0; }, [](int k, real x) { return line(k, x / 3, real(1) / 3); }, everywhere},
      {"x^3", [](value x) { return pow(x, 3.0); }, [](int k, real x) { return power_of(3, k, x); }, everywhere},
      {"x^2.5", [](value x) { return pow(x, 2.5); }, [](int k, real x) { return power_of(2.5, k, x); }, everywhere},
      {"2^x", [](value x) { return pow(2.0, x); },
       [](int k, real x) { return std::pow(std::log(real(2)), k) * std::pow(real(2), x); }, everywhere},
      {"max(x, 1)", [](value x) { return max(x, 1.0); },
       [](int k, real x) {
         return line(k, x >= 1 ? x : x < 1 ? 1 : x, x >= 1);
       },
       everywhere},
      {"min(x, 1)", [](value x) { return min(x, 1.0); },
       [](int k, real x) {
         return line(k, x <= 1 ? x : x > 1 ? 1 : x, x <= 1);
       },
       everywhere},
      {"a masked sqrt",
       [](value x) {
         const auto positive = x > 0.0;
         return select(positive, sqrt(x), 0.0);
       },
       [](int k, real x) { return x > 0 ? power_of(.5, k, x) : 0; }, everywhere},
      {"a masked rsqrt",
       [](value x) {
         const auto positive = x > 0.0;
         return select(positive, rsqrt(x), 0.0);
       },
       [](int k, real x) { return x > 0 ? power_of(-.5, k, x) : 0; }, everywhere},
      {"max(sqrt, 1)", [](value x) { return max(sqrt(x), 1.0); },
       [](int k, real x) { return x >= 1 ? power_of(.5, k, x) : line(k, x >= 0 ? 1 : x + NAN, 0); }, everywhere},
  };
}

const std::vector<row>& rows() {
  static const std::vector<row> all = [] {
    std::vector<row> both = rows_of_primitives();
    for (row& r : rows_of_maths()) both.push_back(std::move(r));
    return both;
  }();
  return all;
}

// The derivative of an order. Its inputs are x, then what flows into each derivative.
program derivative_of(const row& r, int order, dtype type) {
  program p;
  p.arithmetic = type;
  p.results.push_back({r.formula({&p, p.emit_input(false)}).id, type});
  for (int k = 0; k < order; ++k) p = derive(p, 1);
  return executable(p);
}

template <class T>
std::vector<T> run(const program& p, const std::vector<T>& x) {
  const std::vector<T> ones(x.size(), 1);
  std::vector<T> dropped(x.size()), y(x.size());
  strip s;
  s.n = static_cast<std::int64_t>(x.size());
  for (std::size_t k = 0; k < p.inputs; ++k) s.in[k] = (k == 0 ? x : ones).data(), s.advance[k] = ~std::int64_t{0};
  for (std::size_t k = 0; k < p.results.size(); ++k)
    s.out[k] = (k == 0 ? y : dropped).data(), s.how[k] = k == 0 ? sink::store : sink::drop;
  op::program_runner{p}(s);
  return y;
}

template <class T>
std::vector<T> extreme_values() {
  std::vector<T> all{0, -T(0), std::numeric_limits<T>::quiet_NaN()};
  for (const double x : {1e-30, 1e-8, .5, 1., 2.5, 10., 17., 50., 88., 89., 104., 200., 710., 746., 2000.})
    all.push_back(T(x)), all.push_back(T(-x));
  return all;
}

template <class T>
bool is_near(T is, real should, bool relative) {
  if (std::isnan(should)) return std::isnan(is);
  if (std::abs(should) > std::numeric_limits<T>::max()) return !std::isfinite(is);
  const real rounding = 64 * std::numeric_limits<T>::epsilon();
  const real least = relative ? 64 * std::numeric_limits<T>::min() : rounding;
  return std::abs(is - should) <= rounding * std::abs(should) + least;
}

template <class T>
void check_all() {
  const auto x = extreme_values<T>();
  for (const row& r : rows())
    for (int order = 0; order < orders; ++order) {
      const auto y = run(derivative_of(r, order, dtype_of<T>), x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (std::isnan(x[i]) && order > 0) continue;  // said below
        const bool relative = r.where == precise::everywhere || (r.where == precise::below_0 && x[i] <= -.5);
        const real should = r.derivative(order, x[i]);
        INFO(r.name << ", order " << order << ", at " << x[i] << ": " << y[i] << ", not " << double(should));
        CHECK(is_near(y[i], should, relative));
      }
    }
}

}  // namespace

TEST_CASE("functions of float and their derivatives are right at extreme values") {
  check_all<float>();
}

TEST_CASE("functions of double and their derivatives are right at extreme values") {
  check_all<double>();
}

TEST_CASE("the derivatives of relu at 0 and at NaN are 0, and those of elu at 0 are 1, 0 and 0") {
  const auto at = [](const char* name, int order, float x) {
    for (const row& r : rows())
      if (r.name == std::string(name)) return run<float>(derivative_of(r, order, dtype::float32), {x})[0];
    return NAN;
  };
  CHECK(at("relu", 1, 0) == 0);
  CHECK(at("relu", 1, NAN) == 0);
  CHECK(std::isnan(at("relu", 0, NAN)));
  CHECK(at("elu", 1, 0) == 1);
  CHECK(at("elu", 2, 0) == 0);
  CHECK(at("elu", 3, 0) == 0);
}

// README has the table.
TEST_CASE("where nothing flows into a function, nothing flows on, but through a slope that is no number") {
  const auto slope = [](std::function<value(value)> f, float x, float flow) {
    program p;
    p.arithmetic = dtype::float32;
    p.results.push_back({f({&p, p.emit_input(false)}).id, dtype::float32});
    const program d = executable(derive(p));
    float out = -99;
    strip s;
    s.n = 1;
    s.in[0] = &x, s.in[1] = &flow;
    s.advance[0] = s.advance[1] = ~std::int64_t{0};
    s.out[0] = &out, s.how[0] = sink::store;
    op::program_runner{d}(s);
    return out;
  };
  for (const row& r : rows()) {
    const std::string name = r.name;
    for (const float x : {0.f, -1.f, 1.f, 200.f, -200.f}) {
      INFO(name << " at " << x);
      const bool no_number = ((name == "log" || name == "1 / x") && x == 0) || (name == "log1p" && x == -1) ||
                             ((name == "exp" || name == "2^x") && x == 200) || (name == "x^2.5" && x < 0) ||
                             (r.is_program && !std::isfinite(slope(r.formula, x, 1)));
      const float passed = slope(r.formula, x, 0);
      CHECK((no_number ? std::isnan(passed) : passed == 0));
    }
  }
  CHECK(std::isnan(slope([](value x) { return pow(x, .5); }, 0, 0)));
  CHECK(std::isnan(slope([](value x) { return x * x * x; }, 1e30f, 0)));
  CHECK(std::isnan(slope([](value x) { return pow(x, 3.0); }, 1e30f, 0)));
  for (const auto& f : {apply<functor::squared>, apply<functor::sine>, apply<functor::cosine>})
    CHECK(std::isnan(slope(f, HUGE_VALF, 0)));

  const auto root = [](value x) { return sqrt(x); };
  const auto reciprocal = [](value x) { return rsqrt(x); };
  CHECK(slope(root, 0, 2) == HUGE_VALF);
  CHECK(slope(reciprocal, 0, 2) == -HUGE_VALF);
  CHECK(std::isnan(slope(root, -1, 2)));
  CHECK(slope(root, 4, 2) == .5f);
  CHECK(slope(reciprocal, 4, 2) == -.125f);
}
