// Metrics over several steps.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <random>

#include <support/caught.hpp>
#include <support/own_session.hpp>

namespace {

using namespace pinion;
namespace tr = pinion::train;

}  // namespace

TEST_CASE_METHOD(own_session,
                 "a mean goes on over steps, is 0 before the first, and begins anew when it is initialised") {
  const auto x = placeholder<float>({unknown}, "x");
  const auto [value, update] = tr::mean(x);
  CHECK(g.collection("local_variables").size() == 2);
  CHECK(g.collection("variables").empty());
  CHECK(g.collection("trainable_variables").empty());
  sess.run(local_variables_initializer());
  CHECK(double(sess.run(value)) == 0);
  CHECK(double(sess.run({{x, {1, 2}}}, update)) == 1.5);
  CHECK(double(sess.run({{x, {9}}}, update)) == 4);
  CHECK(double(sess.run(value)) == 4);
  sess.run(local_variables_initializer());
  CHECK(double(sess.run({{x, {5}}}, update)) == 5);
}

TEST_CASE_METHOD(own_session, "a metric counts each value by its weight") {
  const auto x = placeholder<int>({unknown}, "x");
  const auto w = placeholder<float>({unknown}, "w");
  const auto weighted = tr::mean(x, {.weights = w});
  sess.run(local_variables_initializer());
  CHECK(double(sess.run({{x, {1, 2, 100}}, {w, {3, 1, 0}}}, weighted.update)) == 1.25);
}

TEST_CASE_METHOD(own_session, "accuracy is how often labels are met") {
  const auto y = placeholder<std::int64_t>({unknown}, "y"), x = placeholder<std::int64_t>({unknown}, "x");
  const auto [value, update] = tr::accuracy(y, x);
  sess.run(local_variables_initializer());
  sess.run({{y, {1, 2, 3}}, {x, {1, 0, 3}}}, update);
  sess.run({{y, {1}}, {x, {2}}}, update);
  CHECK(double(sess.run(value)) == .5);
  CHECK(value.name().find("accuracy/") == 0);
  CHECK(caught([&] {
          tr::accuracy(constant<int>({1, 2}), constant<int>({1, 2, 3}));
        }).code() == errc::invalid_argument);
}

TEST_CASE_METHOD(own_session, "auc is the part of pairs in the right order, as finely as there are thresholds") {
  const auto y = placeholder<bool>({unknown}, "y");
  const auto p = placeholder<float>({unknown}, "p");
  const auto [value, update] = tr::auc(y, p, {.num_thresholds = 1001});
  sess.run(local_variables_initializer());
  std::mt19937 bits(7);
  std::vector<std::pair<bool, float>> seen;
  for (int step = 0; step < 4; ++step) {
    tensor<bool> labels({50});
    tensor<float> scores({50});
    for (int i = 0; i < 50; ++i) {
      labels(i) = bits() % 3 == 0;
      scores(i) = std::uniform_real_distribution<float>(labels(i) ? .2f : 0, labels(i) ? 1 : .8f)(bits);
      seen.emplace_back(labels(i), scores(i));
    }
    sess.run({{y, labels}, {p, scores}}, update);
  }
  double right = 0, pairs = 0;
  for (const auto& [a, s] : seen)
    for (const auto& [b, t] : seen)
      if (a && !b) ++pairs, right += s > t ? 1 : s == t ? .5 : 0;
  CHECK(double(sess.run(value)) == Approx(right / pairs).margin(.002));
}

TEST_CASE_METHOD(own_session, "auc of a perfect order is 1, of the reverse 0, and of 0 and 1 themselves too") {
  const auto y = placeholder<bool>(shape::any(), "y");
  const auto p = placeholder<double>(shape::any(), "p");
  const auto [value, update] = tr::auc(y, p);
  sess.run(local_variables_initializer());
  sess.run({{y, {true, false}}, {p, {1, 0}}}, update);
  CHECK(double(sess.run(value)) == Approx(1).margin(1e-5));
  sess.run(local_variables_initializer());
  sess.run({{y, {{true, false}}}, {p, {{.1, .9}}}}, update);
  CHECK(double(sess.run(value)) == Approx(0).margin(1e-5));
  CHECK(failure([&] { tr::auc(y, p, {.num_thresholds = 1}); }) ==
        "invalid_argument: auc with 1 thresholds; it needs two");
}
