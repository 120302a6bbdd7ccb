// Losses of embeddings against plain loops, their gradients, and what bad inputs get.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

#include <support/caught.hpp>
#include <support/own_session.hpp>

namespace {

using namespace pinion;
namespace tr = pinion::train;

struct embedding_fixture : own_session {
  expr<double> a = constant<double>({{.6, .8}, {1, 0}, {-.6, .8}}, "a"),
               b = constant<double>({{.8, .6}, {0, 1}, {-.6, .8}}, "b");
  const double a_[3][2] = {{.6, .8}, {1, 0}, {-.6, .8}}, b_[3][2] = {{.8, .6}, {0, 1}, {-.6, .8}};

  double product(int i, int j) const { return a_[i][0] * b_[j][0] + a_[i][1] * b_[j][1]; }
  double distance(int i) const { return std::hypot(a_[i][0] - b_[i][0], a_[i][1] - b_[i][1]); }

  // The loss of row i of info_nce.
  double of_row(int i, double temperature) const {
    double row = 0, column = 0;
    for (int j = 0; j < 3; ++j) {
      row += std::exp(product(i, j) / temperature);
      column += std::exp(product(j, i) / temperature);
    }
    return (std::log(row) + std::log(column)) / 2 - product(i, i) / temperature;
  }
};

}  // namespace

TEST_CASE_METHOD(embedding_fixture, "the cosine distance is 1 less the product along the axis, which stays") {
  const auto each = sess.run(tr::cosine_distance(a, b, {.axis = 1, .reduction = tr::reduction::none}));
  REQUIRE(each.shape() == shape{3, 1});
  for (int i = 0; i < 3; ++i)
    CHECK(each.span()[static_cast<std::size_t>(i)] == Approx(1 - product(i, i)).margin(1e-15));
  CHECK(double(sess.run(tr::cosine_distance(a, b))) ==
        Approx(1 - (product(0, 0) + product(1, 1) + product(2, 2)) / 3).margin(1e-15));
  const auto columns = sess.run(tr::cosine_distance(a, b, {.axis = 0, .reduction = tr::reduction::none}));
  CHECK(columns.shape() == shape{1, 2});
  const expr<double> weights = constant<double>({{2}, {0}, {0}});
  CHECK(double(sess.run(tr::cosine_distance(a, b, {.weights = weights, .reduction = tr::reduction::sum}))) ==
        Approx(2 * (1 - product(0, 0))));
}

TEST_CASE_METHOD(embedding_fixture, "the contrastive loss pulls pairs together, or pushes them behind the margin") {
  const auto alike = constant<int>({1, 0, 0});
  const auto each = sess.run(tr::contrastive_loss(alike, a, b, {.margin = 1.5, .reduction = tr::reduction::none}));
  REQUIRE(each.shape() == shape{3});
  CHECK(each.span()[0] == Approx(distance(0) * distance(0)));
  CHECK(each.span()[1] == Approx((1.5 - distance(1)) * (1.5 - distance(1))));
  CHECK(each.span()[2] == Approx(2.25));
  CHECK(double(sess.run(tr::contrastive_loss(alike, a, b))) == Approx((distance(0) * distance(0) + 0 + 1) / 3));
  CHECK(double(sess.run(tr::contrastive_loss(equal(alike, 1), a, b))) ==
        Approx((distance(0) * distance(0) + 0 + 1) / 3));
}

TEST_CASE_METHOD(embedding_fixture, "equal embeddings that should differ have no gradient, rather than NaN") {
  const auto loss =
      tr::contrastive_loss(constant<int>({1, 0, 0}), a, b, {.margin = 3, .reduction = tr::reduction::sum});
  const auto [slope] = gradients(loss, a);
  const auto s = sess.run(slope);
  for (int k = 0; k < 2; ++k) {
    const auto at = static_cast<std::size_t>(k);
    CHECK(s.span()[at] == Approx(2 * (a_[0][k] - b_[0][k])));
    CHECK(s.span()[2 + at] == Approx(-2 * (3 - distance(1)) * (a_[1][k] - b_[1][k]) / distance(1)));
    CHECK(s.span()[4 + at] == 0);
  }
}

TEST_CASE_METHOD(embedding_fixture, "InfoNCE is the mean of the cross entropies of rows and columns") {
  const auto each = sess.run(tr::info_nce(a, b, {.temperature = .5, .reduction = tr::reduction::none}));
  REQUIRE(each.shape() == shape{3});
  for (int i = 0; i < 3; ++i) CHECK(each.span()[static_cast<std::size_t>(i)] == Approx(of_row(i, .5)));
  CHECK(double(sess.run(tr::info_nce(a, b))) == Approx((of_row(0, .07) + of_row(1, .07) + of_row(2, .07)) / 3));
}

TEST_CASE_METHOD(embedding_fixture, "InfoNCE takes batches of unknown size, and a temperature that is trained") {
  const auto x = placeholder<double>({unknown, 2}, "x");
  const expr<double> heat = constant(.5);
  const auto loss = tr::info_nce(x, x * 1., {.temperature = heat});
  const auto [by_heat, by_x] = gradients(loss, heat, x);
  const auto two = tensor<double>::of({{1, 0}, {0, 1}});
  const double e = std::exp(2.);  // of the equal pair; 1 of the others
  CHECK(double(sess.run({{x, two}}, loss)) == Approx(std::log1p(1 / e)));
  CHECK(double(sess.run({{x, two}}, by_heat)) == Approx(4 / (1 + e)));
  CHECK(sess.run({{x, two}}, by_x).shape() == shape{2, 2});
  CHECK(double(sess.run({{x, tensor<double>(shape{0, 2})}}, loss)) == 0);
}

TEST_CASE_METHOD(embedding_fixture, "losses of embeddings join the collection of losses") {
  tr::cosine_distance(a, b), tr::contrastive_loss(constant<int>({1, 0, 0}), a, b), tr::info_nce(a, b);
  CHECK(g.collection("losses").size() == 3);
}

TEST_CASE_METHOD(embedding_fixture, "embeddings that make no pairs are refused") {
  const auto narrow = constant<double>({{1}, {1}, {1}}, "narrow");
  CHECK(failure([&] { tr::info_nce(a, narrow); }) ==
        "invalid_argument: info_nce: the embeddings 'a' have shape [3, 2], and 'narrow' [3, 1]; both are [n, d]");
  CHECK(failure([&] { tr::contrastive_loss(constant<int>({1, 0}, "two"), a, b); }).find("[2]") != std::string::npos);
  CHECK(failure([&] { tr::info_nce(a, b, {.temperature = 0}); }) ==
        "invalid_argument: info_nce with temperature 0; it must be positive");
  CHECK(failure([&] { tr::cosine_distance(a, narrow); }) ==
        "invalid_argument: cosine_distance: the labels 'a' have shape [3, 2], the predictions 'narrow' [3, 1]");
  CHECK(caught([&] { tr::cosine_distance(a, b, {.axis = 2}); }).code() == errc::invalid_argument);
}
