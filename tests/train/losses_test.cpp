// Losses against their formulas, their weights and reductions, and the collections they join.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>

#include <support/caught.hpp>
#include <support/ends.hpp>
#include <support/own_session.hpp>
#include <support/tensor_text.hpp>

namespace {

using namespace pinion;
namespace tr = pinion::train;

struct loss_fixture : own_session {
  expr<double> y = constant<double>({{0, 1, .25}, {1, 0, .5}}, "labels"),
               x = constant<double>({{-2, .5, 40}, {0, -800, 3}}, "predictions");

  // The mean of f(label, prediction) over all elements.
  double mean_of(const std::function<double(double, double)>& f) {
    const auto a = sess.run(y), b = sess.run(x);
    double sum = 0;
    for (std::size_t i = 0; i < 6; ++i) sum += f(a.span()[i], b.span()[i]);
    return sum / 6;
  }
};

}  // namespace

TEST_CASE_METHOD(loss_fixture, "losses are the means of their formulas") {
  CHECK(double(sess.run(tr::mean_squared_error(y, x))) ==
        Approx(mean_of([](double l, double p) { return (l - p) * (l - p); })));
  CHECK(double(sess.run(tr::absolute_difference(y, x))) ==
        Approx(mean_of([](double l, double p) { return std::abs(l - p); })));
  CHECK(double(sess.run(tr::hinge_loss(y, x))) ==
        Approx(mean_of([](double l, double p) { return std::max(0., 1 - (2 * l - 1) * p); })));
  CHECK(double(sess.run(tr::huber_loss(y, x, 2))) == Approx(mean_of([](double l, double p) {
          const double e = std::abs(l - p);
          return e <= 2 ? e * e / 2 : 2 * e - 2;
        })));
  CHECK(double(sess.run(tr::log_loss(y, sigmoid(x / 100)))) == Approx(mean_of([](double l, double p) {
          const double q = 1 / (1 + std::exp(-p / 100));
          return -l * std::log(q + 1e-7) - (1 - l) * std::log(1 - q + 1e-7);
        })));
}

TEST_CASE_METHOD(loss_fixture,
                 "sigmoid_cross_entropy neither overflows nor loses the small, and has the right gradient everywhere") {
  const auto loss = tr::sigmoid_cross_entropy(y, x, {.reduction = tr::reduction::none});
  const auto [slope] = gradients(loss, x);
  const auto [l, s, labels, logits] = sess.run(loss, slope, y, x);
  for (std::size_t i = 0; i < 6; ++i) {
    const double z = labels.span()[i], p = logits.span()[i];
    CHECK(l.span()[i] == Approx(std::max(p, 0.) - p * z + std::log1p(std::exp(-std::abs(p)))));
    CHECK(s.span()[i] == Approx(1 / (1 + std::exp(-p)) - z).margin(1e-15));
  }
}

TEST_CASE_METHOD(loss_fixture, "label smoothing of sigmoid_cross_entropy moves labels towards one half") {
  const expr<double> smooth = y * .7 + .15;
  CHECK(double(sess.run(tr::sigmoid_cross_entropy(y, x, {}, .3))) ==
        Approx(double(sess.run(tr::sigmoid_cross_entropy(smooth, x)))));
}

TEST_CASE_METHOD(loss_fixture,
                 "cross entropies of classes are means over rows, whole or by class number, smoothed or not") {
  const auto logits = constant<double>({{1, 2, 3}, {0, 0, 0}});
  const auto plain = [](double smoothing) {
    const double lse = std::log(std::exp(1.) + std::exp(2.) + std::exp(3.)), on = 1 - smoothing + smoothing / 3,
                 off = smoothing / 3;
    return ((on * (lse - 3) + off * (lse - 1) + off * (lse - 2)) + std::log(3.)) / 2;
  };
  const auto onehot = constant<double>({{0, 0, 1}, {1, 0, 0}});
  CHECK(double(sess.run(tr::softmax_cross_entropy(onehot, logits))) == Approx(plain(0)));
  CHECK(double(sess.run(tr::softmax_cross_entropy(onehot, logits, {}, .3))) == Approx(plain(.3)));
  CHECK(double(sess.run(tr::sparse_softmax_cross_entropy(constant<int>({2, 0}), logits))) == Approx(plain(0)));
}

TEST_CASE_METHOD(loss_fixture, "weights and reductions are TensorFlow's") {
  using r = tr::reduction;
  const expr<double> losses = constant<double>({{1, 2}, {4, 8}});
  const expr<double> rows = constant<double>({{3}, {0}}), zero = constant(0.);
  const auto of = [&](tr::loss_weights w, r how) {
    return sess.run(tr::compute_weighted_loss(losses, {.weights = w, .reduction = how}));
  };
  CHECK(of(rows, r::none) == tensor<double>::of({{3, 6}, {0, 0}}));
  CHECK(double(of(rows, r::sum)) == 9);
  CHECK(double(of(rows, r::mean)) == 1.5);
  CHECK(double(of(rows, r::sum_over_batch_size)) == 2.25);
  CHECK(double(of(rows, r::sum_by_nonzero_weights)) == 4.5);
  CHECK(double(of(2, r::sum_by_nonzero_weights)) == 7.5);
  CHECK(double(of(2, r::mean)) == 3.75);
  CHECK(double(of(2, r::sum)) == 30);
  CHECK(double(of(constant(2), r::sum_over_batch_size)) == 7.5);
  for (r how : {r::sum, r::mean, r::sum_by_nonzero_weights, r::sum_over_batch_size}) {
    CHECK(double(of(zero, how)) == 0);
    CHECK(double(of(0, how)) == 0);
  }
  CHECK(failure([&] {
          of(constant<double>({1, 2, 3}), r::sum);
        }) == "invalid_argument: weights of shape [3] do not broadcast to losses of shape [2, 2]");
  CHECK(failure([&] { of(constant<double>({{{1}}}), r::sum); }) ==
        "invalid_argument: weights of shape [1, 1, 1] do not broadcast to losses of shape [2, 2]");
}

TEST_CASE_METHOD(loss_fixture, "losses over nothing are 0") {
  const expr<float> none = constant(tensor<float>(shape{0, 3}));
  CHECK(float(sess.run(tr::mean_squared_error(none, none))) == 0);
}

TEST_CASE_METHOD(loss_fixture, "losses and what regularizers yield add up to the total loss, which trains") {
  auto w = variable(tensor<float>::of({3, -4}), {.name = "w"});
  const auto loss = tr::mean_squared_error(constant<float>({1, -4}), w);
  const auto penalty = tr::l2_regularizer{.5}(w);
  CHECK(g.collection("losses") == std::vector{id_of(loss)});
  CHECK(g.collection("regularization_losses") == std::vector{id_of(penalty)});
  const auto total = tr::get_total_loss(), bare = tr::get_total_loss(false);
  const auto train = tr::gradient_descent{{.learning_rate = 1}}.minimize(total);
  sess.run(global_variables_initializer());
  CHECK(float(sess.run(penalty)) == 6.25f);
  CHECK(float(sess.run(bare)) == 2);
  CHECK(float(sess.run(total)) == 8.25f);
  sess.run(train);
  CHECK(sess.run(w) == tensor<float>::of({-.5, -2}));
}

TEST_CASE_METHOD(loss_fixture, "shapes that do not go together are refused") {
  CHECK(failure([&] {
          tr::mean_squared_error(constant<double>({1, 2}, "two"), x);
        }) ==
        "invalid_argument: mean_squared_error: the labels 'two' have shape [2], the predictions 'predictions' [2, 3]");
  CHECK(failure([] { tr::get_total_loss(); }) == "invalid_argument: get_total_loss: the graph has no losses");
  tr::mean_squared_error(y, x);
  CHECK(caught([] { tr::get_total_loss<float>(); }).code() == errc::invalid_argument);
  CHECK(failure([&] { tr::huber_loss(y, x, 0); }) == "invalid_argument: huber_loss with delta 0; it must be positive");
}
