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

TEST_CASE_METHOD(own_session, "the variables of a scope are those whose names begin with it, a whole name each") {
  const auto names = [](const std::vector<pn::operation>& of) {
    std::vector<std::string> all;
    for (const pn::operation& v : of) all.push_back(v.name());
    return all;
  };
  using texts = std::vector<std::string>;
  CHECK(names(pn::global_variables()) == texts{});
  auto x = pn::placeholder<float>({pn::unknown, 3}, "x");
  auto h = pn::nn::dense(x, 4, {.name = "head"});
  pn::nn::dense(h, 2, {.name = "header"});
  pn::variable(pn::constant(0), {.name = "head/steps", .trainable = false});
  pn::variable(pn::constant(0), {.name = "head/here", .local = true});
  CHECK(names(pn::global_variables()) ==
        texts{"head/kernel", "head/bias", "header/kernel", "header/bias", "head/steps"});
  CHECK(names(pn::global_variables("head")) == texts{"head/kernel", "head/bias", "head/steps"});
  CHECK(names(pn::trainable_variables("head")) == texts{"head/kernel", "head/bias"});
  CHECK(names(pn::trainable_variables()).size() == 4);
  CHECK(names(pn::trainable_variables("head/bias")) == texts{"head/bias"});
  CHECK(names(pn::trainable_variables("bias")) == texts{});
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

TEST_CASE("a dense layer on a vector, or of an unknown last extent, says what it takes") {
  pn::graph g;
  auto use = g.as_default();
  auto x = pn::placeholder<float>({pn::unknown, pn::unknown}, "x");
  CHECK(failure([&] { pn::nn::dense(x, 4); }) ==
        "invalid_argument: a dense layer of 4 units on 'x' of shape [?, ?]: it takes rank 2 or more, and a known last "
        "extent");
  auto v = pn::placeholder<float>({3}, "v");
  CHECK(failure([&] { pn::nn::dense(v, 4); }).find("'v' of shape [3]: it takes rank 2 or more") != std::string::npos);
}

TEST_CASE("a dense layer on a tensor of rank 3 works along its last axis") {
  pn::graph g;
  auto use = g.as_default();
  auto x = pn::constant(pn::tensor<float>::of({{{1, 2}, {3, 4}, {5, 6}}, {{0, 1}, {1, 0}, {2, 2}}}));
  auto y = pn::nn::dense(x, 3, pn::relu, {.seed = 7, .name = "whole"});
  auto flat = pn::nn::dense(pn::reshape(x, {6, 2}), 3, pn::relu, {.seed = 7, .name = "flat"});
  CHECK(y.shape() == pn::shape{2, 3, 3});
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  const pn::tensor<float> got = sess.run(pn::reshape(y, {6, 3})), want = sess.run(flat);
  for (std::int64_t i = 0; i < 18; ++i) CHECK(got.data()[i] == Approx(want.data()[i]));
}

TEST_CASE("layers of norms make their variables, which begin as 1 and 0 and are learnt") {
  pn::graph g;
  auto use = g.as_default();
  auto x = pn::constant(pn::tensor<float>::of({{1, 2, 3, 6}, {-1, 0, 0, 1}}));
  auto y = pn::nn::layer_norm(x), z = pn::nn::rms_norm(x, {.name = "final"});
  std::vector<std::string> names;
  for (const pn::node_id id : g.collection("trainable_variables")) names.push_back(g[id].name);
  CHECK(names == std::vector<std::string>{"layer_normalization/gamma", "layer_normalization/beta", "final/gamma"});
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  const pn::tensor<float> rows = sess.run(y), squares = sess.run(pn::reduce_mean(pn::square(z), {.axes = {-1}}));
  CHECK(rows.data()[0] + rows.data()[1] + rows.data()[2] + rows.data()[3] == Approx(0).margin(1e-5));
  CHECK(squares.data()[1] == Approx(1).margin(1e-3));
  auto v = pn::placeholder<float>({pn::unknown}, "v");
  CHECK(failure([&] { pn::nn::layer_norm(v); }).find("layer_norm of 'v'") != std::string::npos);
}
