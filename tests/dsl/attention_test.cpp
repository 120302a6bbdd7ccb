// Attention, beside what products and softmax make of it.
#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include <pinion/graph.hpp>
#include <pinion/session.hpp>

namespace {

using namespace pinion;

struct attention_bench {
  graph g;
  decltype(g.as_default()) use = g.as_default();
  session s{{.graph = &g}};

  expr<double> numbers(const shape& of, int seed) {
    tensor<double> t(of);
    for (std::int64_t i = 0; i < t.size(); ++i) t.data()[i] = static_cast<double>((i * 37 + seed) % 23) / 8 - 1.4;
    return constant(t);
  }
  void expect_same(const expr<double>& got, const expr<double>& want) {
    const tensor<double> a = s.run(got), b = s.run(want);
    REQUIRE(a.shape() == b.shape());
    double apart = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) apart = std::max(apart, std::abs(a.data()[i] - b.data()[i]));
    CHECK(apart < 1e-10);
  }
  // Compares values and all gradients by some expressions.
  void expect_same_slopes(const expr<double>& got, const expr<double>& want, const std::vector<expr<double>>& by) {
    expect_same(got, want);
    const expr<double> weights = numbers(got.shape(), 5);
    for (const expr<double>& x : by)
      expect_same(std::get<0>(gradients(got * weights, x)), std::get<0>(gradients(want * weights, x)));
  }
};

expr<double> by_softmax(const expr<double>& q, const expr<double>& k, const expr<double>& v, double scale,
                        const expr<double>& added) {
  return matmul(softmax(matmul(q, k, {.transpose_b = true}) * scale + added), v);
}

// 0 where a query sees a key, and a large negative number elsewhere.
tensor<double> causal_mask(std::int64_t m, std::int64_t n) {
  tensor<double> t(shape{m, n});
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) t.data()[i * n + j] = j - i > n - m ? -1e30 : 0;
  return t;
}

}  // namespace

TEST_CASE("attention is the mean of values weighted by softmax, over several blocks of queries and keys") {
  attention_bench t;
  const auto q = t.numbers({2, 2, 70, 4}, 1), k = t.numbers({2, 2, 300, 4}, 2), v = t.numbers({2, 2, 300, 3}, 3);
  const auto y = scaled_dot_product_attention(q, k, v);
  CHECK(y.op() == "ScaledDotProductAttention");
  CHECK(y.shape() == shape{2, 2, 70, 3});
  t.expect_same_slopes(y, by_softmax(q, k, v, .5, constant(0.0)), {q, k, v});
}

TEST_CASE("causal attention sees the keys up to the query, which is counted from the end") {
  attention_bench t;
  const auto q = t.numbers({1, 70, 4}, 1), k = t.numbers({1, 300, 4}, 2), v = t.numbers({1, 300, 3}, 3);
  const auto y = scaled_dot_product_attention(q, k, v, {.causal = true, .scale = .25});
  t.expect_same_slopes(y, by_softmax(q, k, v, .25, constant(causal_mask(70, 300))), {q, k, v});
}

TEST_CASE("a query of length 1 sees all keys of a cache, as the last row of the whole does") {
  attention_bench t;
  const auto q = t.numbers({1, 9, 4}, 1), k = t.numbers({1, 9, 4}, 2), v = t.numbers({1, 9, 3}, 3);
  const auto whole = scaled_dot_product_attention(q, k, v, {.causal = true});
  const auto last = scaled_dot_product_attention(slice(q, {0, 8, 0}, {-1, 1, -1}), k, v, {.causal = true});
  t.expect_same(last, slice(whole, {0, 8, 0}, {-1, 1, -1}));
}

TEST_CASE("heads of queries share keys and values in groups") {
  attention_bench t;
  const auto q = t.numbers({2, 4, 5, 4}, 1), k = t.numbers({2, 2, 6, 4}, 2), v = t.numbers({2, 2, 6, 3}, 3);
  const auto y = scaled_dot_product_attention(q, k, v);
  const auto repeated = [&](const expr<double>& x, std::int64_t last) {
    return expr<double>(reshape(tile(expand_dims(x, 2), {1, 1, 2, 1, 1}), {2, 4, 6, last}));
  };
  t.expect_same_slopes(y, by_softmax(q, repeated(k, 4), repeated(v, 3), .5, constant(0.0)), {q, k, v});
}

TEST_CASE("a mask of bool leaves out keys, and one of numbers is added and has a gradient") {
  attention_bench t;
  const auto q = t.numbers({2, 2, 5, 4}, 1), k = t.numbers({2, 2, 6, 4}, 2), v = t.numbers({2, 2, 6, 3}, 3);
  const expr<double> added = t.numbers({2, 5, 6}, 4);
  t.expect_same_slopes(scaled_dot_product_attention(q, k, v, {.mask = added}), by_softmax(q, k, v, .5, added),
                       {q, k, v, added});
  const expr<bool> seen = added > 0.0;
  const auto y = scaled_dot_product_attention(q, k, v, {.mask = seen});
  t.expect_same_slopes(y, by_softmax(q, k, v, .5, select(seen, constant(0.0), constant(-1e30))), {q, k, v});
}

TEST_CASE("a query that sees no key yields 0, and so are its gradients") {
  attention_bench t;
  const auto q = t.numbers({3, 4}, 1), k = t.numbers({5, 4}, 2), v = t.numbers({5, 2}, 3);
  const auto y = scaled_dot_product_attention(q, k, v, {.mask = constant(tensor<bool>::of({{true}, {false}, {true}}))});
  const auto [dq] = gradients(y, q);
  const tensor<double> got = t.s.run(y), slope = t.s.run(dq);
  CHECK((got.data()[2] == 0 && got.data()[3] == 0 && got.data()[4] != 0));
  CHECK((slope.data()[4] == 0 && slope.data()[7] == 0));
}

TEST_CASE("a gradient of attention that is differentiated again says what would do") {
  attention_bench t;
  const auto q = t.numbers({3, 4}, 1), k = t.numbers({5, 4}, 2), v = t.numbers({5, 2}, 3);
  const auto [dq] = gradients(scaled_dot_product_attention(q, k, v), q);
  CHECK_THROWS_WITH(gradients(dq, q), Catch::Contains("pn::matmul and pn::softmax"));
}

TEST_CASE("shapes of attention that only a run knows are checked there") {
  attention_bench t;
  const expr<double> q = placeholder<double>(shape::any(), "q");
  const auto y = scaled_dot_product_attention(q, t.numbers({5, 4}, 2), t.numbers({5, 2}, 3));
  CHECK(tensor<double>(t.s.run({{q, tensor<double>(shape{3, 4})}}, y)).shape() == shape{3, 2});
  CHECK_THROWS_WITH(t.s.run({{q, tensor<double>(shape{3, 3})}}, y), Catch::Contains("do not go together"));
}

TEST_CASE("a layer of attention is its projections, attention and a last one, in twelve nodes") {
  attention_bench t;
  const expr<double> x = t.numbers({2, 5, 8}, 1);
  const node_id before = t.g.size();
  const auto y = nn::multi_head_attention(x, {.heads = 4, .key_heads = 2, .causal = true, .seed = 3});
  std::size_t nodes = 0;
  std::vector<std::string> variables;
  for (node_id i = before; i < t.g.size(); ++i) {
    const std::string op = t.g.peek(i).op;
    nodes += op == "Einsum" || op == "ExpandDims" || op == "Add" || op == "ScaledDotProductAttention";
  }
  CHECK(nodes <= 12);
  for (const node_id id : t.g.collection("trainable_variables")) variables.push_back(t.g[id].name);
  CHECK(variables.size() == 8);
  CHECK(variables.front() == "multi_head_attention/query/kernel");
  CHECK(variables.back() == "multi_head_attention/attention_output/bias");
  t.s.run(global_variables_initializer());
  CHECK(tensor<double>(t.s.run(y)).shape() == shape{2, 5, 8});
  const expr<double> memory = t.numbers({2, 7, 6}, 2);
  const auto across =
      nn::multi_head_attention(x, memory, {.heads = 2, .depth = 3, .use_bias = false, .name = "across"});
  t.s.run(global_variables_initializer());
  CHECK(tensor<double>(t.s.run(across)).shape() == shape{2, 5, 8});
}

TEST_CASE("a layer of attention says which widths and heads it takes") {
  attention_bench t;
  CHECK_THROWS_WITH(nn::multi_head_attention(t.numbers({2, 5, 8}, 1), {.heads = 3}),
                    Catch::Contains("of width 8 by 3 heads"));
  CHECK_THROWS_WITH(nn::multi_head_attention(t.numbers({5, 8}, 1), {.heads = 2}),
                    Catch::Contains("[batch, length, width]"));
  CHECK_THROWS_WITH(nn::multi_head_attention(t.numbers({2, 5, 8}, 1), {.heads = 4, .key_heads = 3}),
                    Catch::Contains("3 of keys"));
}

TEST_CASE("rotary positions turn pairs, so that products depend on the distance of places") {
  attention_bench t;
  const expr<double> x = t.numbers({1, 1, 4}, 1), y = t.numbers({1, 1, 4}, 2);
  const auto at = [&](const expr<double>& v, int place) { return nn::rotary(v, {.places = constant<int>({place})}); };
  const auto product = [&](int a, int b) { return double(t.s.run(reduce_sum(at(x, a) * at(y, b)))); };
  CHECK(product(7, 3) == Approx(product(14, 10)));
  CHECK(product(7, 3) != Approx(product(7, 4)));
  t.expect_same(at(x, 0), x);
  const expr<double> all = t.numbers({2, 3, 5, 4}, 3);
  const tensor<double> turned = t.s.run(nn::rotary(all)), plain = t.s.run(all);
  const double a = plain.data()[2 * 4 + 1], b = plain.data()[2 * 4 + 3], angle = 2 * std::pow(10000., -.5);
  CHECK(turned.data()[2 * 4 + 1] == Approx(a * std::cos(angle) - b * std::sin(angle)));
  CHECK(turned.data()[2 * 4 + 3] == Approx(b * std::cos(angle) + a * std::sin(angle)));
  CHECK_THROWS_WITH(nn::rotary(t.numbers({2, 3}, 1)), Catch::Contains("even depth"));
}

TEST_CASE("places of rotary are one for each element") {
  attention_bench t;
  CHECK_THROWS_WITH(nn::rotary(t.numbers({1, 2, 4}, 1), {.places = constant<int>({{0, 1}})}),
                    Catch::Contains("there is one for each of 2 elements"));
  CHECK_THROWS_WITH(nn::rotary(t.numbers({1, 1, 4}, 1), {.places = constant<int>({0, 1, 2})}), Catch::Contains("[3]"));
}

TEST_CASE("heads of queries that are none are no multiple of heads of keys") {
  attention_bench t;
  const auto q = t.numbers({1, 0, 2, 4}, 1), k = t.numbers({1, 4, 2, 4}, 2);
  CHECK_THROWS_WITH(scaled_dot_product_attention(q, k, k), Catch::Contains("a multiple"));
  const expr<double> later = placeholder<double>(shape::any(), "later");
  const auto y = scaled_dot_product_attention(later, k, k);
  CHECK_THROWS_WITH(t.s.run({{later, tensor<double>(shape{1, 0, 2, 4})}}, y), Catch::Contains("do not go together"));
}

TEST_CASE("learnt positions add a row to each place") {
  attention_bench t;
  const expr<double> x = t.numbers({2, 3, 4}, 1);
  const auto y = nn::learnt_positions(x, {.length = 5, .seed = 1});
  t.s.run(global_variables_initializer());
  const tensor<double> moved = t.s.run(y - x);
  CHECK(moved.data()[0] == Approx(moved.data()[12]));
  CHECK(moved.data()[0] != Approx(moved.data()[4]));
  CHECK(t.g[t.g.collection("trainable_variables").at(0)].name == "positions/embeddings");
  CHECK_THROWS_WITH(nn::learnt_positions(x, {.length = 2}), Catch::Contains("at most 2 places"));
}
