// Products on GPUs that end with a bias and relu: which nodes become one, and that no value changes.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "runtime/folded_graph.hpp"

namespace {

namespace pn = pinion;

constexpr const char* product_name = "the_product";

// A layer of a graph of its own on a device, a simulated GPU unless said otherwise.
struct layer : folded_graph {
  pn::expr<float> w = pn::constant<float>({{1, -2}, {.5f, 3}, {-1, .25f}}, "w"),
                  b = pn::constant<float>({.5f, -1}, "b");
  pn::expr<float> product = pn::matmul(x, w, {.name = product_name});

  explicit layer(const char* where = "/gpu:0")
      : folded_graph(where, pn::tensor<float>::of({{1, 2, 3}, {-1, .5f, 4}})) {}

  // Is the product part of the node behind it in the step of some fetches?
  template <class... Fetches>
  static bool is_folded(const Fetches&... fetches) {
    return !session().plan(fetches...).find(product_name)->runs;
  }
};

}  // namespace

TEST_CASE("on a GPU the addition of a bias to a product becomes part of it, and relu of that") {
  layer l;
  auto sum = l.product + l.b;
  CHECK(layer::is_folded(sum));
  CHECK(l.keeps_values(sum));
  auto turned = pn::relu(l.b + l.product);
  CHECK(layer::is_folded(turned));
  CHECK(l.keeps_values(turned));
}

TEST_CASE("the gradients of a layer with relu read its result instead of the product") {
  layer l;
  auto y = pn::relu(l.product + l.b);
  auto loss = pn::reduce_sum(y * y * y);
  const auto [by_w, by_b, by_x] = pn::gradients(loss, l.w, l.b, l.x);
  CHECK(layer::is_folded(y, by_w, by_b, by_x));
  CHECK(l.keeps_values(y, by_w, by_b, by_x));
}

TEST_CASE("the gradients of a layer without relu need no product") {
  layer l;
  auto y = l.product + l.b;
  const auto [by_w, by_b] = pn::gradients(pn::reduce_sum(y * y), l.w, l.b);
  CHECK(layer::is_folded(by_w, by_b));
  CHECK(l.keeps_values(y, by_w, by_b));
}

TEST_CASE("NaN stays behind a product with a bias and relu") {
  layer l;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  auto y = pn::relu(l.product + pn::constant<float>({nan, 1}));
  CHECK(layer::is_folded(y));
  pn::session sess = layer::session();
  const pn::tensor<float> value = sess.run({{l.x, l.fed}}, y);
  CHECK(std::isnan(value.span()[0]));
  CHECK(!std::isnan(value.span()[1]));
}

TEST_CASE("a product is left alone where somebody else reads it, or where what follows is no bias of its rows") {
  layer l;
  auto sum = l.product + l.b;
  CHECK(!layer::is_folded(sum, l.product));
  CHECK(!layer::is_folded(sum, pn::exp(l.product)));
  CHECK(!layer::is_folded(l.product + pn::constant<float>({{1, 2}, {3, 4}})));
  CHECK(!layer::is_folded(l.product + pn::constant(1.f)));
  CHECK(!layer::is_folded(l.product * l.b));
  CHECK(!layer::is_folded(pn::elu(l.product + l.b)));
  const auto [slope] = pn::gradients(pn::reduce_sum(pn::tanh(l.product) * 2.f), l.w);
  CHECK(!layer::is_folded(sum, slope));
}

TEST_CASE("a CPU computes product and bias as ever") {
  layer l("/cpu:0");
  CHECK(!layer::is_folded(pn::relu(l.product + l.b)));
}
