// Convolution, pooling, dropout and biases: as a user writes them.
#include <catch2/catch.hpp>

#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_session.hpp"
#include "support/tensor_text.hpp"

namespace {
namespace pn = pinion;
}

TEST_CASE_METHOD(own_session, "a convolution of an image by ones adds up its windows") {
  auto image = pn::reshape(pn::range(1.0f, 10.0f), {1, 3, 3, 1});
  auto ones = pn::ones<float>({2, 2, 1, 1});
  auto valid = pn::conv2d(image, ones),
       same = pn::conv2d(image, ones, {.strides = {2, 2}, .padding = pn::padding::same});
  CHECK(pn::to_string(pn::tensor<float>(sess.run(pn::squeeze(valid)))) == "[[12, 16], [24, 28]]");
  CHECK(pn::to_string(pn::tensor<float>(sess.run(pn::squeeze(same)))) == "[[12, 9], [15, 9]]");
  CHECK(pn::to_string(pn::tensor<float>(
            sess.run(pn::squeeze(pn::max_pool(image, {.window = {2, 2}, .strides = {1, 1}}))))) == "[[5, 6], [8, 9]]");
  CHECK(pn::to_string(pn::tensor<float>(sess.run(
            pn::squeeze(pn::avg_pool(image, {.window = {2, 2}, .strides = {1, 1}, .padding = pn::padding::same}))))) ==
        "[[3, 4, 4.5], [6, 7, 7.5], [7.5, 8.5, 9]]");
}

TEST_CASE_METHOD(own_session, "a window that is much larger than the image pools what is there of it") {
  const pn::pool_options all{.window = {1 << 20, 1 << 20}, .strides = {1, 1}, .padding = pn::padding::same};
  auto image = pn::variable(pn::reshape(pn::range(1.0f, 5.0f), {1, 2, 2, 1}));
  sess.run(image.initializer());
  CHECK(pn::to_string(pn::tensor<float>(sess.run(pn::squeeze(pn::max_pool(image, all))))) == "[[4, 4], [4, 4]]");
  CHECK(pn::to_string(pn::tensor<float>(sess.run(pn::squeeze(pn::avg_pool(image, all))))) ==
        "[[2.5, 2.5], [2.5, 2.5]]");
}

TEST_CASE("images and filters that do not fit are refused with both shapes") {
  pn::graph g;
  auto use = g.as_default();
  auto x = pn::placeholder<float>({pn::unknown, 28, 28, 3}, "x");
  const auto e = caught([&] { pn::conv2d(x, pn::zeros<float>({5, 5, 1, 8})); });
  CHECK(e.sentence() == "images of shape [?, 28, 28, 3] have 3 channels, but filters of shape [5, 5, 1, 8] take 1");
  CHECK(pn::conv2d(x, pn::zeros<float>({5, 5, 3, 8}), {.padding = pn::padding::same}).shape() ==
        pn::shape{pn::unknown, 28, 28, 8});
  CHECK(failure([&] {
          pn::conv2d(x, pn::zeros<float>({5, 5, 3, 8}), {.strides = {0, 1}});
        }).find("two numbers from 1 on") != std::string::npos);
}

TEST_CASE_METHOD(own_session,
                 "dropout keeps the mean, drops other elements in each run, and lets gradients through where it kept") {
  auto x = pn::placeholder<float>({pn::unknown, 1000}, "x");
  auto y = pn::dropout(x, {.rate = .25, .seed = 3});
  auto [back] = pn::gradients(pn::reduce_sum(y), x);
  pn::tensor<float> ones{{40, 1000}};
  for (float& v : ones.span()) v = 1;
  const auto [first, slope] = sess.run({{x, ones}}, y, back);
  const auto second = sess.run({{x, ones}}, y);
  double sum = 0, different = 0;
  for (std::int64_t i = 0; i < first.untyped().count(); ++i) {
    const float v = first.data()[i];
    CHECK((v == 0 || v == Approx(1 / .75f)));
    CHECK(slope.data()[i] == v);
    sum += v;
    different += v != second.data()[i];
  }
  CHECK(sum / 40000 == Approx(1).margin(.01));
  CHECK(different > 10000);
  CHECK(failure([&] { pn::dropout(x, {.rate = 1}); }) == "invalid_argument: a dropout rate of 1 is not in [0, 1)");
}

TEST_CASE_METHOD(own_session, "a bias is fused like any addition, and has one axis") {
  auto x = pn::placeholder<float>({pn::unknown, 2}, "x");
  auto b = pn::constant<float>({1, 2}, "b");
  auto y = pn::relu(pn::bias_add(x, b));
  CHECK(y.op() == "Relu");
  CHECK(g.find("BiasAdd") == std::nullopt);
  CHECK(pn::to_string(sess.run({{x, {{-5, 1}}}}, y)) == "[[0, 3]]");
  CHECK(failure([&] {
          pn::bias_add(x, pn::constant<float>({{1, 2}}, "wide"));
        }) == "invalid_argument: the bias of bias_add has one axis, but 'wide' has shape [1, 2]");
}
