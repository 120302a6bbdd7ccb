// Products of tensors of any rank, and sums of products that equations name.
#include <catch2/catch.hpp>

#include <numeric>
#include <string>
#include <vector>

#include <pinion/graph.hpp>
#include <pinion/session.hpp>

#include "support/caught.hpp"

namespace {

using namespace pinion;

// Small whole numbers, so that sums of products are exact.
tensor<float> counted(const shape& of, int from = 0) {
  tensor<float> t(of);
  for (std::int64_t i = 0; i < t.size(); ++i) t.data()[i] = static_cast<float>((i * 7 + from) % 11 - 5);
  return t;
}

// [b, m, k] x [b, k, n], plainly.
std::vector<float> products(const tensor<float>& a, const tensor<float>& b) {
  const auto batches = a.shape()[0], m = a.shape()[1], k = a.shape()[2], n = b.shape()[2];
  std::vector<float> all;
  for (std::int64_t i = 0; i < batches * m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t l = 0; l < k; ++l) sum += a.data()[i * k + l] * b.data()[(i / m * k + l) * n + j];
      all.push_back(sum);
    }
  return all;
}

struct einsum_bench {
  graph g;
  decltype(g.as_default()) use = g.as_default();
  session s{{.graph = &g}};
  tensor<float> run(const expr<float>& y) { return s.run(y); }
  std::vector<float> numbers(const expr<float>& y) {
    const tensor<float> t = run(y);
    return {t.data(), t.data() + t.size()};
  }
};

std::size_t nodes_of(const graph& g, std::string_view op) {
  std::size_t count = 0;
  for (node_id i = 0; i < g.size(); ++i) count += g.peek(i).op == op;
  return count;
}

}  // namespace

TEST_CASE("matmul of tensors multiplies the matrices in their last two axes") {
  einsum_bench t;
  const tensor<float> a = counted({3, 5, 4}), b = counted({3, 4, 6}, 3);
  const auto y = matmul(constant(a), constant(b));
  CHECK(y.op() == "BatchMatMulV2");
  CHECK(einsum("bij->bi", constant(a)).name() == "Einsum");
  CHECK(y.shape() == shape{3, 5, 6});
  CHECK(t.numbers(y) == products(a, b));
  const auto turned = matmul(transpose(constant(a), {0, 2, 1}), transpose(constant(b), {0, 2, 1}),
                             {.transpose_a = true, .transpose_b = true});
  CHECK(t.numbers(turned) == products(a, b));
}

TEST_CASE("matmul of two matrices is a MatMul, and where a rank is unknown a BatchMatMulV2 that takes both") {
  einsum_bench t;
  const auto w = constant(counted({4, 6}));
  CHECK(matmul(constant(counted({5, 4})), w).op() == "MatMul");
  const expr<float> x = placeholder<float>(shape::any(), "x");
  const auto y = matmul(x, w);
  CHECK(y.op() == "BatchMatMulV2");
  const tensor<float> rank_two = t.s.run({{x, counted({5, 4})}}, y), rank_three = t.s.run({{x, counted({1, 5, 4})}}, y);
  CHECK(rank_two.shape() == shape{5, 6});
  CHECK(rank_three.shape() == shape{1, 5, 6});
  CHECK(std::equal(rank_two.data(), rank_two.data() + 30, rank_three.data()));
}

TEST_CASE("a matrix that all of a batch share has the sum of their gradients, by one product") {
  einsum_bench t;
  const auto x = constant(counted({3, 5, 4})), w = constant(counted({4, 6}, 2));
  const auto [dx, dw] = gradients(matmul(x, w), x, w);
  const auto [flat_dx, flat_dw] = gradients(matmul(reshape(x, {15, 4}), w), x, w);
  CHECK(t.numbers(dx) == t.numbers(flat_dx));
  CHECK(t.numbers(dw) == t.numbers(flat_dw));
  CHECK(dw.shape() == shape{4, 6});
  CHECK(dw.op() == "EinsumLike");
}

TEST_CASE("gradients of a batch of products are products") {
  einsum_bench t;
  const auto a = constant(counted({3, 5, 4})), b = constant(counted({3, 4, 6}));
  const auto [da, db] = gradients(matmul(a, b), a, b);
  CHECK(da.op() == "BatchMatMulV2");
  CHECK(t.numbers(da) == t.numbers(einsum("bmn,bkn->bmk", fill({3, 5, 6}, 1.f), b)));
  CHECK(t.numbers(db) == t.numbers(einsum("bmk,bmn->bkn", a, fill({3, 5, 6}, 1.f))));
}

TEST_CASE("a matmul says which operand does not fit") {
  einsum_bench t;
  const auto a = constant(counted({3, 5, 4}));
  CHECK_THROWS_WITH(matmul(a, constant(counted({5, 6}))),
                    Catch::Contains("[3, 5, 4] and [5, 6]") && Catch::Contains("have 4 and 5 elements"));
  CHECK_THROWS_WITH(matmul(a, constant(counted({4}))), Catch::Contains("pn::expand_dims"));
  CHECK_THROWS_WITH(matmul(a, constant(counted({2, 4, 6}))), Catch::Contains("have 3 and 2 elements"));
  const expr<float> x = placeholder<float>(shape::any(), "x");
  const auto y = matmul(x, constant(counted({4, 6})));
  CHECK_THROWS_WITH(t.s.run({{x, counted({5, 3})}}, y), Catch::Contains("have 3 and 4 elements"));
  CHECK_THROWS_WITH(t.s.run({{x, counted({4})}}, y), Catch::Contains("rank 1"));
}

TEST_CASE("einsum without an arrow keeps the letters that stand once, in the order of the alphabet") {
  einsum_bench t;
  const auto a = constant(counted({2, 3})), b = constant(counted({3, 4}));
  CHECK(t.numbers(einsum("ij,jk", a, b)) == t.numbers(matmul(a, b)));
  CHECK(t.numbers(einsum("ba", a)) == t.numbers(transpose(a, {1, 0})));
  CHECK(t.numbers(einsum("ii", constant(counted({3, 3})))) == std::vector<float>{-5 + 1 - 4});
  CHECK(einsum("...ij,...jk", constant(counted({7, 2, 3})), b).shape() == shape{7, 2, 4});
}

TEST_CASE("an einsum of several operands contracts those first whose product is small") {
  einsum_bench t;
  const auto a = constant(counted({2, 50})), b = constant(counted({50, 60})), v = constant(counted({60}));
  const auto y = einsum("ij,jk,k->i", a, b, v);
  CHECK(nodes_of(t.g, "Einsum") == 2);
  const node& last = y.node();
  CHECK(t.g.peek(last.inputs[1].node).attrs.get<std::string>("equation") == "jk,k->j");
  CHECK(t.numbers(y) == t.numbers(reshape(matmul(a, matmul(b, expand_dims(v, 1))), {2})));
}

TEST_CASE("letters of one operand alone are summed over before it is contracted") {
  einsum_bench t;
  const auto a = constant(counted({4, 5})), b = constant(counted({6}));
  const auto y = einsum("ij,k->k", a, b);
  CHECK(t.g.peek(y.node().inputs[0].node).attrs.get<std::string>("equation") == "ij->");
  CHECK(t.numbers(y) == t.numbers(reduce_sum(a) * b));
}

TEST_CASE("attention by einsum is right, and so are its gradients") {
  einsum_bench t;
  const auto q = constant(counted({2, 5, 3, 4})), k = constant(counted({2, 6, 3, 4}, 1));
  const auto scores = einsum("bqhd,bkhd->bhqk", q, k);
  const auto by_matmul = matmul(transpose(q, {0, 2, 1, 3}), transpose(k, {0, 2, 1, 3}), {.transpose_b = true});
  CHECK(t.numbers(scores) == t.numbers(by_matmul));
  const auto weights = constant(counted({2, 3, 5, 6}, 4));
  const auto [dq, dk] = gradients(scores * weights, q, k);
  const auto [other_dq, other_dk] = gradients(by_matmul * weights, q, k);
  CHECK(t.numbers(dq) == t.numbers(other_dq));
  CHECK(t.numbers(dk) == t.numbers(other_dk));
}

TEST_CASE("an error of einsum names the equation, and the line that has it") {
  einsum_bench t;
  const auto a = constant(counted({2, 3}));
  const error refused = caught([&] { einsum("ij,jk->ik", a); });
  CHECK_THAT(refused.sentence(), Catch::Contains("of 2 operands, and 1 are given"));
  CHECK(line_of(refused) == here(__LINE__ - 2));
  const error unread = caught([&] { einsum("i1->i", a); });
  CHECK_THAT(unread.sentence(), Catch::Contains("has '1' in it"));
  CHECK(line_of(unread) == here(__LINE__ - 2));
  CHECK_THROWS_WITH(einsum("i j -> j k", a), Catch::Contains("an axis that no operand has"));
}
