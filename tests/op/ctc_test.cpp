// Connectionist temporal classification, beside PyTorch's numbers, at its limits, and for bad inputs.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <pinion/graph.hpp>
#include <pinion/op/ctc/functions.hpp>
#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_session.hpp"

namespace {

using namespace pinion;

constexpr double no_path = std::numeric_limits<double>::infinity();

struct ctc_fixture : own_session {
  // Logits [time, batch, classes] that a formula gives.
  static tensor<double> logits_of(std::int64_t time, std::int64_t batch, std::int64_t classes) {
    tensor<double> x({time, batch, classes});
    for (std::int64_t t = 0; t < time; ++t)
      for (std::int64_t n = 0; n < batch; ++n)
        for (std::int64_t c = 0; c < classes; ++c)
          x.data()[(t * batch + n) * classes + c] =
              static_cast<double>((7 * t + 5 * n + 3 * c * c + t * c) % 11) / 4 - 1;
    return x;
  }
  expr<double> logits = constant(logits_of(5, 3, 4), "logits");
  expr<int> labels = constant<int>({{1, 1, 2}, {3, 0, 0}, {2, 3, 1}}, "labels");
  ctc_loss_options lengths{.label_lengths = constant<int>({3, 1, 2}), .logit_lengths = constant<int>({5, 3, 4})};

  double loss_of(const expr<int>& y, const expr<double>& x, const ctc_loss_options& o = {}) {
    return sess.run(ctc_loss(y, x, o)).span()[0];
  }
};

void expect_numbers(const tensor<double>& got, std::vector<double> want) {
  REQUIRE(got.span().size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(got.span()[i] == Approx(want[i]).margin(1e-14));
}

}  // namespace

// The numbers are those of PyTorch 2.15: torch.nn.functional.ctc_loss(torch.log_softmax(x, -1), labels, [5, 3, 4],
// [3, 1, 2], blank=0, reduction='none') of double, and the gradient of its sum.
TEST_CASE_METHOD(ctc_fixture, "the loss and its gradient are PyTorch's") {
  const auto loss = ctc_loss(labels, logits, lengths);
  const auto [slope] = gradients(loss, logits);
  const auto [l, s] = sess.run(loss, slope);
  expect_numbers(l, {4.623572157496614, 1.2818361704406922, 3.4465467332833937});
  const std::vector<double> second{-0.7253803433658111, 0.037293741086853766, 0.5625620434340827,
                                   0.12552455884487476, 0.012239213912801672, 0.20555144915151435,
                                   0.16008362956066144, -0.37787429262497746, 0.034585895908899066,
                                   0.4309501191286516,  -0.5226274081027478,  0.05709139306519705};
  const std::vector<double> fourth{
      0.13573529641579435, -0.004718246096340099, -0.20663520256529355, 0.07561815224583932, 0, 0, 0, 0,
      0.03204583472568093, 0.16008362956066152,   0.20555144915151444,  -0.3976809134378569};
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(s.span()[12 + i] == Approx(second[i]).margin(1e-14));
    CHECK(s.span()[36 + i] == Approx(fourth[i]).margin(1e-14));
  }
}

TEST_CASE_METHOD(ctc_fixture, "each row's gradient is multiplied by that of its loss") {
  const auto loss = ctc_loss(labels, logits, lengths);
  const auto [whole] = gradients(loss, logits);
  const auto [scaled] = gradients(reduce_sum(loss * constant<double>({2, 0, -1})), logits);
  const auto [a, b] = sess.run(whole, scaled);
  for (std::size_t i = 0; i < a.span().size(); ++i)
    CHECK(b.span()[i] == std::vector<double>{2, 0, -1}[i / 4 % 3] * a.span()[i]);
}

TEST_CASE_METHOD(ctc_fixture, "no labels are said by blanks alone") {
  const auto x = constant<double>({{{std::log(.25), std::log(.75)}}, {{std::log(.5), std::log(.5)}}});
  CHECK(loss_of(constant(tensor<int>({1, 0})), x) == Approx(-std::log(.125)));
  CHECK(loss_of(constant(tensor<int>({1, 0})), constant(tensor<double>({0, 1, 2}))) == 0);
  CHECK(loss_of(constant(tensor<int>({1, 1})) + 1, constant(tensor<double>({0, 1, 2}))) == no_path);
}

TEST_CASE_METHOD(ctc_fixture, "equal labels need a step between them") {
  const auto x = constant(logits_of(3, 1, 3));
  CHECK(std::isfinite(loss_of(constant<int>({{1, 1}}), x)));
  CHECK(loss_of(constant<int>({{1, 1, 2}}), x) == no_path);
  CHECK(std::isfinite(loss_of(constant<int>({{1, 2, 1}}), x)));
  CHECK(loss_of(constant<int>({{1, 2, 1, 2}}), x) == no_path);
}

TEST_CASE_METHOD(ctc_fixture, "labels that do not fit have an infinite loss, or none, and no gradient") {
  const auto x = constant(logits_of(2, 1, 3));
  const auto loss = ctc_loss(constant<int>({{1, 1}}), x);
  const auto [slope] = gradients(loss, x);
  const auto [l, s] = sess.run(loss, slope);
  CHECK(l.span()[0] == no_path);
  for (const double v : s.span()) CHECK(v == 0);
  CHECK(loss_of(constant<int>({{1, 1}}), x, {.zero_infinity = true}) == 0);
  CHECK(std::isfinite(loss_of(constant<int>({{1, 2}}), x, {.zero_infinity = true})));
}

TEST_CASE_METHOD(ctc_fixture, "logarithms neither overflow nor vanish along a thousand steps") {
  const auto x = constant(logits_of(1000, 1, 4)) * 50.;
  const expr<double> wide = x + 1e5;
  const auto y = constant<int>({{1, 2, 3, 3, 2, 1}});
  const double loss = loss_of(y, x);
  CHECK(loss > 1000);
  CHECK(std::isfinite(loss));
  CHECK(loss_of(y, wide) == Approx(loss));
  const auto of_float = sess.run(ctc_loss(y, cast<float>(x)));
  CHECK(of_float.span()[0] == Approx(loss).epsilon(1e-6));
}

TEST_CASE_METHOD(ctc_fixture, "a class of logit -infinity is impossible, and NaN spoils its row alone") {
  const double inf = no_path, nan = std::numeric_limits<double>::quiet_NaN();
  const auto never = constant<double>({{{0, -inf}}, {{0, -inf}}});
  CHECK(loss_of(constant<int>({{1}}), never) == no_path);
  CHECK(loss_of(constant(tensor<int>({1, 0})), never) == 0);
  const auto x = constant<double>({{{0, nan}, {0, 1}}, {{0, 0}, {0, 0}}});
  const auto l = sess.run(ctc_loss(constant<int>({{1}, {1}}), x));
  CHECK(std::isnan(l.span()[0]));
  CHECK(std::isfinite(l.span()[1]));
}

TEST_CASE_METHOD(ctc_fixture, "the blank may be any class, counted from the last as well") {
  const auto first = ctc_loss(constant<int>({{1, 2}}), constant(logits_of(4, 1, 3)));
  const auto turned = gather(constant(logits_of(4, 1, 3)), constant<int>({1, 2, 0}), {.axis = 2});
  const expr<double> x = turned;
  CHECK(loss_of(constant<int>({{0, 1}}), x, {.blank = 2}) == Approx(sess.run(first).span()[0]));
  CHECK(loss_of(constant<int>({{0, 1}}), x, {.blank = -1}) == Approx(sess.run(first).span()[0]));
}

TEST_CASE_METHOD(ctc_fixture, "bits do not depend on threads") {
  const auto x = constant(logits_of(60, 37, 11));
  tensor<int> all({37, 9});
  for (int i = 0; i < 37 * 9; ++i) all.data()[i] = 1 + i * 5 % 10;
  const auto loss = ctc_loss(constant(all), x);
  const auto [slope] = gradients(loss, x);
  session one({.graph = &g, .intra_op_threads = 1}), four({.graph = &g, .intra_op_threads = 4});
  const auto [l1, s1] = one.run(loss, slope);
  const auto [l4, s4] = four.run(loss, slope);
  CHECK(l1 == l4);
  CHECK(s1 == s4);
}

TEST_CASE_METHOD(ctc_fixture, "what a step finds wrong is told by row") {
  const auto message = [&](const expr<int>& y, const ctc_loss_options& o) {
    const std::string all = failure([&] { sess.run(ctc_loss(y, logits, o)); });
    return all.substr(0, all.find(" ["));
  };
  const auto lines = constant<int>({3, 1, 4});
  CHECK(message(labels, {.label_lengths = lines}) == "invalid_argument: the label length 4 of row 2 is not in");
  CHECK(message(labels, {.logit_lengths = constant<int>({5, 6, 5})}) ==
        "invalid_argument: the logit length 6 of row 1 is not in");
  CHECK(message(labels, {}) == "invalid_argument: label 0 of row 1 is none of 4 classes, or the blank 0");
  CHECK(message(labels + 2, {}) == "invalid_argument: label 4 of row 0 is none of 4 classes, or the blank 0");
}

TEST_CASE_METHOD(ctc_fixture, "shapes that are unknown before are checked in the step") {
  const auto x = placeholder<double>(shape::any(), "x");
  const auto loss = ctc_loss(labels, x, {.label_lengths = constant<int>({3, 1, 2})});
  CHECK(sess.run({{x, logits_of(5, 3, 4)}}, loss).shape() == shape{3});
  CHECK(caught([&] { sess.run({{x, logits_of(5, 2, 4)}}, loss); }).code() == errc::invalid_argument);
  CHECK(caught([&] { sess.run({{x, tensor<double>({5, 3})}}, loss); }).code() == errc::invalid_argument);
}

TEST_CASE_METHOD(ctc_fixture, "the loss has no second gradient, and says so") {
  const auto loss = ctc_loss(labels, logits, lengths);
  const auto [slope] = gradients(loss, logits);
  CHECK(failure([&] { gradients(slope, logits); }).find("not differentiated again") != std::string::npos);
}

TEST_CASE_METHOD(ctc_fixture, "the greedy decoder merges classes that stand one after the other, and drops blanks") {
  const auto path = constant<int>({{0, 2, 2, 0, 2, 1}, {1, 1, 0, 0, 2, 2}});
  const auto x = transpose(one_hot<double>(path, 3), {1, 0, 2});
  const auto o = ctc_greedy_decoder(x, {.blank = 0});
  const auto [labels_of, lengths_of, score] = sess.run(o.labels, o.lengths, o.neg_sum_logits);
  CHECK(labels_of == tensor<std::int64_t>::of({{2, 2, 1, -1, -1, -1}, {1, 2, -1, -1, -1, -1}}));
  CHECK(lengths_of == tensor<std::int64_t>::of({3, 2}));
  CHECK(score == tensor<double>::of({{-6}, {-6}}));
  const auto each = ctc_greedy_decoder(x, {.logit_lengths = constant<int>({3, 6}), .merge_repeated = false});
  CHECK(sess.run(each.labels) == tensor<std::int64_t>::of({{0, -1, -1, -1, -1, -1}, {1, 1, 0, 0, -1, -1}}));
  CHECK(sess.run(each.neg_sum_logits) == tensor<double>::of({{-3}, {-6}}));
}
