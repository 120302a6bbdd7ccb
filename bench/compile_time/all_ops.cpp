// A program that uses every op of the DSL once.
#include <pinion/session.hpp>

namespace pn = pinion;

struct swish {
  static constexpr int arity = 1;
  template <class V>
  static constexpr auto apply(V x) {
    return x / (1.0 + exp(-x));
  }
};

int main() {
  auto x = pn::placeholder<float>({4, 4}, "x"), w = pn::placeholder<float>({4, 4}, "w");
  auto i = pn::placeholder<int>({4}, "i");
  auto v = pn::variable(pn::truncated_normal<float>({4, 4}), {.name = "v"});
  std::vector<pn::expr<float>> all{x + w,
                                   x - w,
                                   x * w,
                                   x / w,
                                   -x,
                                   pn::exp(x),
                                   pn::log(x),
                                   pn::log1p(x),
                                   pn::sqrt(x),
                                   pn::rsqrt(x),
                                   pn::square(x),
                                   pn::abs(x),
                                   pn::sign(x),
                                   pn::tanh(x),
                                   pn::erf(x),
                                   pn::erfc(x),
                                   pn::sin(x),
                                   pn::cos(x),
                                   pn::sigmoid(x),
                                   pn::relu(x),
                                   pn::elu(x),
                                   pn::softplus(x),
                                   pn::floor(x),
                                   pn::ceil(x),
                                   pn::round(x),
                                   pn::maximum(x, w),
                                   pn::minimum(x, w),
                                   pn::pow(x, w),
                                   pn::map<swish>(x),
                                   pn::select(x < w, x, w),
                                   pn::select(x <= w && !(x > w), x, w),
                                   pn::select(x >= w || x == w, x, w),
                                   pn::select(pn::not_equal(x, w), x, w),
                                   pn::cast<float>(pn::cast<double>(x)),
                                   pn::bias_add(x, pn::reduce_sum(w, {.axes = {0}})),
                                   pn::matmul(x, w),
                                   pn::softmax(x),
                                   pn::log_softmax(x),
                                   pn::reshape(x, {4, 4}),
                                   pn::transpose(x, {1, 0}),
                                   pn::slice(x, {0, 0}, {4, 4}),
                                   pn::tile(x, {1, 1}),
                                   pn::pad(x, {{0, 0}, {0, 0}}),
                                   pn::gather(x, i),
                                   pn::dropout(x, {.rate = .5}),
                                   pn::one_hot<float>(i, 4),
                                   pn::squeeze(pn::expand_dims(x, 0)),
                                   pn::random_uniform<float>({4, 4}),
                                   pn::random_normal<float>({4, 4}),
                                   pn::zeros<float>({4, 4}),
                                   pn::ones<float>({4, 4}),
                                   pn::fill<float>({4, 4}, 2.0f),
                                   pn::identity(x)};
  auto image = pn::reshape(x, {1, 4, 4, 1});
  auto convolved = pn::conv2d(image, pn::ones<float>({2, 2, 1, 1}));
  auto pooled = pn::max_pool(image) + pn::avg_pool(image);
  auto [upper, lower] = pn::split<2>(x, 0);
  auto sums = pn::reduce_mean(pn::reduce_max(x, {.axes = {1}})) + pn::reduce_min(x) + pn::reduce_prod(w);
  auto entropy = pn::reduce_sum(pn::softmax_cross_entropy_with_logits(w, x)) +
                 pn::reduce_sum(pn::sparse_softmax_cross_entropy_with_logits(i, x));
  auto any = pn::reduce_any(pn::in_top_k(x, i, 1));
  auto every = pn::reduce_all(x < w);
  auto chosen = pn::cond(
      every, [&] { return x; }, [&] { return w; });
  auto [turns, grown] = pn::while_loop([](auto n, auto) { return n < 3; },
                                       [](auto n, auto y) {
                                         return std::tuple{n + 1, y * 2.0f};
                                       },
                                       0, chosen);
  auto joined = pn::concat(all, 0);
  auto stacked = pn::stack({upper, lower});
  auto [g] = pn::gradients(pn::reduce_sum(joined) + pn::reduce_sum(grown) + pn::reduce_sum(pn::matmul(x, v)), x);
  pn::session sess;
  sess.run(v.initializer());
  sess.run({{x, pn::tensor<float>{{4, 4}}}, {w, pn::tensor<float>{{4, 4}}}, {i, pn::tensor<int>{{4}}}}, g, sums,
           entropy, any, convolved, pooled, turns, stacked, pn::range<int>(3), pn::shape_of(x), pn::argmax(x),
           pn::assign_add(v, x), pn::assign_sub(v, w));
}
