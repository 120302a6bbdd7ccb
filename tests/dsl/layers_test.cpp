// Layers.
#include <catch2/catch.hpp>

#include <pinion/session.hpp>
#include <pinion/train.hpp>

#include "support/caught.hpp"
#include "support/own_session.hpp"
#include "support/tensor_text.hpp"

namespace {
namespace pn = pinion;
}

TEST_CASE_METHOD(own_session, "a dense layer has its variables under its name, and fuses bias and activation") {
  auto x = pn::placeholder<float>({pn::unknown, 3}, "x");
  auto h = pn::nn::dense(x, 4, pn::nn::elu, {.seed = 7, .name = "hidden"});
  auto y = pn::nn::dense(h, 2);
  auto z = pn::nn::dense(y, 1, [](auto v) { return pn::square(v); }, {.use_bias = false, .name = "last"});
  CHECK(h.shape() == pn::shape{pn::unknown, 4});
  CHECK(h.name() == "hidden/Elu");
  CHECK(g.find("hidden/BiasAdd") == std::nullopt);
  for (const char* name : {"hidden/kernel", "hidden/bias", "dense/kernel", "dense/bias", "last/kernel"})
    CHECK(g.find(name) != std::nullopt);
  CHECK(g.find("last/bias") == std::nullopt);
  sess.run(pn::global_variables_initializer());
  CHECK(sess.run({{x, {{1, 2, 3}}}}, z).shape() == pn::shape{1, 1});
}

TEST_CASE_METHOD(own_session, "a dense layer learns") {
  auto x = pn::constant<float>({{0, 0}, {0, 1}, {1, 0}, {1, 1}}), t = pn::constant<float>({{0}, {1}, {1}, {0}});
  auto h = pn::nn::dense(x, 8, pn::nn::tanh, {.seed = 3, .name = "hidden"});
  auto y = pn::nn::dense(h, 1, pn::nn::sigmoid, {.seed = 5, .name = "out"});
  auto loss = pn::reduce_mean(pn::square(y - t));
  auto train = pn::train::momentum{{.learning_rate = .5f, .momentum = .9f}}.minimize(loss);
  sess.run(pn::global_variables_initializer());
  for (int step = 0; step < 500; ++step) sess.run(train);
  CHECK(float(sess.run(loss)) < .01f);
}

TEST_CASE("a dense layer on what is no matrix says what it takes") {
  pn::graph g;
  auto use = g.as_default();
  auto x = pn::placeholder<float>({pn::unknown, pn::unknown}, "x");
  CHECK(failure([&] { pn::nn::dense(x, 4); }) ==
        "invalid_argument: a dense layer of 4 units on 'x' of shape [?, ?]: it takes a matrix of a known number of "
        "columns");
}
