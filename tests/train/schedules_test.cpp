// Schedules against the formulas of TensorFlow's documentation.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>

#include <support/caught.hpp>

namespace {

using namespace pinion;
namespace tr = pinion::train;

// Is the schedule that number at some steps, as the global step takes them on?
void check(const std::function<expr<double>(const variable_handle<std::int64_t>&)>& make,
           const std::function<double(double)>& formula) {
  graph g;
  const auto use = g.as_default();
  const auto step = tr::get_or_create_global_step();
  const auto rate = make(step);
  const auto at = placeholder<std::int64_t>({}, "at");
  const auto moved = assign(step, at);
  session sess;
  for (std::int64_t s : {0, 1, 2, 49, 50, 51, 99, 100, 101, 150, 199, 200, 201, 1000, 100000}) {
    sess.run({{at, s}}, moved);
    INFO("step " << s);
    CHECK(double(sess.run(rate)) == Approx(formula(static_cast<double>(s))).epsilon(1e-14).margin(1e-300));
  }
}

}  // namespace

TEST_CASE("exponential_decay follows its formula, gradually and in stairs") {
  check([](const auto& step) { return tr::exponential_decay(.1, step, {.decay_steps = 100, .decay_rate = .96}); },
        [](double s) { return .1 * std::pow(.96, s / 100); });
  check(
      [](const auto& step) {
        return tr::exponential_decay(.1, step, {.decay_steps = 100, .decay_rate = .96, .staircase = true});
      },
      [](double s) { return .1 * std::pow(.96, std::floor(s / 100)); });
}

TEST_CASE("natural_exp_decay follows its formula, gradually and in stairs") {
  check([](const auto& step) { return tr::natural_exp_decay(.1, step, {.decay_steps = 50, .decay_rate = .5}); },
        [](double s) { return .1 * std::exp(-.5 * s / 50); });
  check(
      [](const auto& step) {
        return tr::natural_exp_decay(.1, step, {.decay_steps = 50, .decay_rate = .5, .staircase = true});
      },
      [](double s) { return .1 * std::exp(-.5 * std::floor(s / 50)); });
}

TEST_CASE("inverse_time_decay follows its formula, gradually and in stairs") {
  check([](const auto& step) { return tr::inverse_time_decay(.1, step, {.decay_steps = 50, .decay_rate = .5}); },
        [](double s) { return .1 / (1 + .5 * s / 50); });
  check(
      [](const auto& step) {
        return tr::inverse_time_decay(.1, step, {.decay_steps = 50, .decay_rate = .5, .staircase = true});
      },
      [](double s) { return .1 / (1 + .5 * std::floor(s / 50)); });
}

TEST_CASE("polynomial_decay ends at its end, or begins again with cycle") {
  check(
      [](const auto& step) {
        return tr::polynomial_decay(.1, step, {.decay_steps = 100, .end_learning_rate = .01, .power = .5});
      },
      [](double s) { return (.1 - .01) * std::pow(1 - std::min(s, 100.) / 100, .5) + .01; });
  check(
      [](const auto& step) {
        return tr::polynomial_decay(.1, step,
                                    {.decay_steps = 100, .end_learning_rate = .01, .power = 2, .cycle = true});
      },
      [](double s) {
        const double steps = 100 * (s == 0 ? 1 : std::ceil(s / 100));
        return (.1 - .01) * std::pow(1 - s / steps, 2) + .01;
      });
}

TEST_CASE("cosine_decay goes down half a wave and stays") {
  check([](const auto& step) { return tr::cosine_decay(.1, step, {.decay_steps = 200, .alpha = .25}); },
        [](double s) {
          const double wave = .5 * (1 + std::cos(std::acos(-1.) * std::min(s, 200.) / 200));
          return .1 * ((1 - .25) * wave + .25);
        });
}

TEST_CASE("piecewise_constant changes behind a boundary") {
  check(
      [](const auto& step) {
        return tr::piecewise_constant(step, {1, 100, 150}, {1, .5, .25, .125});
      },
      [](double s) {
        return s <= 1 ? 1 : s <= 100 ? .5 : s <= 150 ? .25 : .125;
      });
  check([](const auto& step) { return tr::piecewise_constant(step, {}, {.5}); }, [](double) { return .5; });
}

TEST_CASE("linear_warmup rises to the rate, which may be a schedule") {
  check([](const auto& step) { return tr::linear_warmup(.1, step, {.warmup_steps = 100}); },
        [](double s) { return .1 * std::min(s / 100, 1.); });
  check(
      [](const auto& step) {
        return tr::linear_warmup(tr::exponential_decay(.1, step, {.decay_steps = 50}), step,
                                 {.warmup_steps = 100, .start = .5});
      },
      [](double s) { return .1 * std::pow(.96, s / 50) * (.5 + .5 * std::min(s / 100, 1.)); });
}

TEST_CASE("a schedule is one node beside the conversion of the step") {
  graph g;
  const auto use = g.as_default();
  const auto step = tr::get_or_create_global_step();
  const auto before = g.size();
  const auto rate = tr::polynomial_decay(.1, step, {.cycle = true});
  CHECK(rate.name() == "PolynomialDecay");
  CHECK(g.size() - before == 2);
}

TEST_CASE("numbers of which no schedule can be made are refused") {
  graph g;
  const auto use = g.as_default();
  const auto step = tr::get_or_create_global_step();
  CHECK(failure([&] { tr::exponential_decay(.1, step, {.decay_steps = 0}); }) ==
        "invalid_argument: exponential_decay over 0 steps; it must be more than 0");
  CHECK(failure([&] {
          tr::piecewise_constant(step, {1, 2}, {1, 2});
        }) ==
        "invalid_argument: piecewise_constant of 2 boundaries and 2 values; there is one value more than boundaries, "
        "of which 60 is the most");
  CHECK(failure([&] {
          tr::piecewise_constant(step, {2, 2}, {1, 2, 3});
        }) == "invalid_argument: the boundaries of piecewise_constant must rise, but 2 follows 2");
  CHECK(failure([&] {
          tr::linear_warmup(constant<float>({1, 2}, "rates"), step);
        }) == "invalid_argument: 'rates' of shape [2] is given where a scalar is wanted");
}
