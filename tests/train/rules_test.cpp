// Every optimizer against a plain reference in double: dense and sparse, float and double, at a fixed and a changing
// rate.
#include <catch2/catch.hpp>

#include <pinion/scalar/compiled.hpp>

#include "train/reference.hpp"

using namespace pinion_tests;

namespace {

constexpr int steps = 200;

template <class T>
void follow(gradient_is kind, bool scheduled, double margin) {
  for (const subject& s : subjects()) {
    INFO(s.name << (kind == gradient_is::sparse ? ", sparse" : ", dense") << (scheduled ? ", scheduled" : ""));
    const auto rate = [&](const variable_handle<std::int64_t>& step) -> tr::scalar_value {
      if (!scheduled) return .01;
      return tr::exponential_decay(.01, step, {.decay_steps = 50, .decay_rate = .5});
    };
    const auto got = trained<T>(s, kind, steps, rate);
    const auto wanted = by_hand(s, kind, steps, [&](int t) { return scheduled ? .01 * std::pow(.5, t / 50.) : .01; });
    CHECK(std::abs(wanted[0] - start(0, 0)) > .1);
    CHECK(farthest(got, wanted) < margin);
  }
}

}  // namespace

TEST_CASE("every optimizer goes where a plain reference goes, by dense gradients") {
  follow<double>(gradient_is::dense, false, 1e-9);
  follow<float>(gradient_is::dense, false, 2e-4);
}

TEST_CASE("every optimizer goes where a plain reference goes, by sparse gradients") {
  follow<double>(gradient_is::sparse, false, 1e-9);
  follow<float>(gradient_is::sparse, false, 2e-4);
}

TEST_CASE("every optimizer follows a rate that the graph computes") {
  follow<double>(gradient_is::dense, true, 1e-9);
  follow<float>(gradient_is::dense, true, 2e-4);
  follow<double>(gradient_is::sparse, true, 1e-9);
  follow<float>(gradient_is::sparse, true, 2e-4);
}

TEST_CASE("every optimizer gives the same on another device, bit for bit") {
  const auto rate = [](const variable_handle<std::int64_t>& step) {
    return tr::scalar_value(tr::inverse_time_decay(.02, step));
  };
  for (const subject& s : subjects())
    for (gradient_is kind : {gradient_is::dense, gradient_is::sparse}) {
      INFO(s.name);
      CHECK(trained<float>(s, kind, 20, rate, {.simulated = {sim::gpu()}}) == trained<float>(s, kind, 20, rate));
    }
}

TEST_CASE("a rate is the same as a number and as an expression") {
  for (const subject& s : subjects()) {
    INFO(s.name);
    const auto number = [](const auto&) { return tr::scalar_value(.03f); };
    const auto of_graph = [](const auto&) { return tr::scalar_value(constant(.03f)); };
    const auto a = trained<float>(s, gradient_is::dense, 10, number),
               b = trained<float>(s, gradient_is::dense, 10, of_graph);
    for (std::size_t i = 0; i < a.span().size(); ++i) CHECK(a.span()[i] == Approx(b.span()[i]).epsilon(1e-6));
  }
}

TEST_CASE("the kernels of the library's rules are in the library") {
  const auto compiled = []<class Rule, op::rate_is Rate>(dtype type) {
    return scalar::find_compiled(scalar::executable(op::rule_program<Rule, Rate>(type, {}))) != nullptr;
  };
  for_each_type(rules::all{}, [&]<class Rule>() {
    for (dtype type : {dtype::float32, dtype::float64}) {
      CHECK(compiled.template operator()<Rule, op::rate_is::input>(type));
      CHECK(compiled.template operator()<Rule, op::rate_is::literal>(type) != op::rate_varies<Rule>);
    }
  });
}
