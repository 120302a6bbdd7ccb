// Names that the library shares with <cmath>, and with functions of a program's own.
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <type_traits>

#include <support/own_graph.hpp>

using namespace pinion;

namespace {

struct model : own_graph {
  expr<float> x = placeholder<float>({4, 3}, "x");
};

}  // namespace

TEST_CASE("beside <cmath> every elementwise function is called without its namespace") {
  model m;
  const auto x = m.x;
  exp(x), log(x), log1p(x), sqrt(x), rsqrt(x), tanh(x), erf(x), erfc(x), sin(x), cos(x), floor(x), ceil(x), round(x);
  square(x), abs(x), sign(x), negative(x), sigmoid(x), elu(x), softplus(x), relu(x), softmax(x), log_softmax(x);
  gelu(x), gelu_by_tanh(x), silu(x), mish(x), selu(x), relu6(x), hard_sigmoid(x), hard_swish(x);
  maximum(x, 2.0f), minimum(x, x), pow(x, 2.0f);
  tan(x), asin(x), acos(x), atan(x), sinh(x), cosh(x), asinh(x), acosh(x), atanh(x), expm1(x), log2(x), log10(x);
  exp2(x), reciprocal(x), trunc(x), logsigmoid(x), softsign(x), atan2(x, x), hypot(x, 1.0f), mod(x, 2.0f);
  CHECK(atan(1.0) == std::atan(1.0));
  CHECK(tanh(x).op() == "Tanh");
  CHECK(tanh(0.0) == 0.0);
}

TEST_CASE("an unqualified call of an activation finds it without a using") {
  model m;
  CHECK([](const expr<float>& y) { return elu(y + 1.0f).op(); }(m.x) == "Elu");
}

TEST_CASE("a layer takes an activation of pn or of nn, and any elementwise function by its name") {
  model m;
  static_assert(std::is_same_v<decltype(pinion::relu), decltype(nn::relu)>);
  CHECK(nn::dense(m.x, 2, pinion::relu).op() == "Relu");
  CHECK(nn::dense(m.x, 2, nn::tanh).op() == "Tanh");
  CHECK(nn::dense(m.x, 2, pinion::gelu).op() == "Map");
  CHECK(nn::dense(m.x, 2, pinion::tanh, {.seed = 1}).op() == "Tanh");
  CHECK(nn::dense(m.x, 2, pinion::sin).op() == "Sin");
  CHECK(nn::dense(m.x, 2, pinion::softsign).op() == "Map");
  CHECK(nn::conv2d(reshape(m.x, {1, 4, 3, 1}), 2, {2, 2}, pinion::abs).op() == "Abs");
  CHECK(nn::split_dense(m.x, 2, {"/cpu:0"}, pinion::tanh)[0].op() == "Tanh");
  const auto activation = pinion::softplus;
  CHECK(nn::dense(m.x, 2, activation).op() == "Softplus");
}
