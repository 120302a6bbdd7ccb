// Norms of groups of channels, by plain loops.
#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/kernel_bench.hpp"
#include "support/own_session.hpp"

namespace {

using namespace pinion;
using kernel_bench::numbers;
using kernel_bench::random;

// x [n, places, channels], each element by its group of channels in one example.
std::vector<double> norms_by_loops(const any_tensor& x, const any_tensor& gamma, const any_tensor& beta,
                                   std::size_t groups, double epsilon) {
  const auto values = numbers(x), scale = numbers(gamma), offset = numbers(beta);
  const std::size_t channels = scale.size(), examples = static_cast<std::size_t>(x.shape()[0]),
                    each = channels / groups;
  const std::size_t places = values.size() / examples / channels;
  std::vector<double> y(values.size());
  for (std::size_t n = 0; n < examples; ++n)
    for (std::size_t k = 0; k < groups; ++k) {
      const auto for_each = [&](auto f) {
        for (std::size_t p = 0; p < places; ++p)
          for (std::size_t c = k * each; c < (k + 1) * each; ++c) f((n * places + p) * channels + c, c);
      };
      double mean = 0, variance = 0;
      const double count = static_cast<double>(places * each);
      for_each([&](std::size_t e, std::size_t) { mean += values[e] / count; });
      for_each([&](std::size_t e, std::size_t) { variance += (values[e] - mean) * (values[e] - mean) / count; });
      for_each([&](std::size_t e, std::size_t c) {
        y[e] = (values[e] - mean) / std::sqrt(variance + epsilon) * scale[c] + offset[c];
      });
    }
  return y;
}

bool are_alike(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= 1e-10)) return false;
  return true;
}

}  // namespace

TEST_CASE_METHOD(own_session, "a group norm is that of plain loops, whatever is known of the shape") {
  const any_tensor gamma = random<double>({6}, 1), beta = random<double>({6}, 2);
  for (const shape& extent : {shape{2, 3, 4, 6}, shape{3, 5, 6}, shape{4, 6}})
    for (const std::int64_t groups : {1, 2, 3, 6}) {
      if (extent.rank() == 2 && groups == 6) continue;
      INFO(to_string(extent) << " in " << groups << " groups");
      const any_tensor x = random<double>(extent);
      shape open = shape::unknown_of_rank(extent.rank());
      open.set(extent.rank() - 1, 6);
      const auto in = placeholder<double>(open, "in");
      const auto y = group_norm(in, constant(tensor<double>(gamma)), constant(tensor<double>(beta)),
                                {.groups = groups, .epsilon = 1e-3});
      CHECK(y.shape() == open);
      const auto expected = norms_by_loops(x, gamma, beta, static_cast<std::size_t>(groups), 1e-3);
      CHECK(are_alike(numbers(sess.run({{in, tensor<double>(x)}}, y).untyped()), expected));
      shape none = extent;
      none.set(0, 0);
      CHECK(sess.run({{in, tensor<double>(none)}}, y).shape() == none);
    }
}

TEST_CASE_METHOD(own_session, "an instance norm is a group norm of every channel") {
  const any_tensor x = random<double>({2, 4, 3, 5}), gamma = random<double>({5}, 1), beta = random<double>({5}, 2);
  const auto y = instance_norm(constant(tensor<double>(x)), constant(tensor<double>(gamma)),
                               constant(tensor<double>(beta)), {.epsilon = 1e-2});
  CHECK(are_alike(numbers(sess.run(y).untyped()), norms_by_loops(x, gamma, beta, 5, 1e-2)));
  const auto row = placeholder<double>({2, 5}, "row");
  CHECK(failure([&] { nn::instance_norm(row); }).find("with an axis between") != std::string::npos);
}

TEST_CASE_METHOD(own_session, "the gradient of a group norm is that of differences") {
  const any_tensor start = random<double>({2, 3, 4});
  const auto x = placeholder<double>({unknown, unknown, 4}, "x");
  const auto weights = constant(tensor<double>(random<double>({2, 3, 4}, 5)));
  const expr<double> gamma = constant<double>({1, 2, -1, .5}), beta = constant<double>({0, 1, 2, 3});
  const auto loss = reduce_sum(square(group_norm(x, gamma, beta, {.groups = 2})) * weights);
  const auto [dx, dgamma] = gradients(loss, x, gamma);
  const auto slopes = numbers(sess.run({{x, tensor<double>(start)}}, dx).untyped());
  const auto at = [&](std::size_t e, double by) {
    const any_tensor moved = kernel_bench::copy_of(start);
    moved.data<double>()[e] += by;
    return double(sess.run({{x, tensor<double>(moved)}}, loss));
  };
  for (std::size_t e = 0; e < slopes.size(); ++e)
    CHECK(slopes[e] == Approx((at(e, 1e-5) - at(e, -1e-5)) / 2e-5).epsilon(1e-5).margin(1e-6));
  CHECK(sess.run({{x, tensor<double>(start)}}, dgamma).shape() == shape{4});
  const auto [second] = gradients(reduce_sum(square(dx)), x);
  CHECK(sess.run({{x, tensor<double>(start)}}, second).shape() == start.shape());
}

TEST_CASE_METHOD(own_session, "layers of group norms have gamma and beta of the channels") {
  const auto x = placeholder<float>({unknown, 4, 4, 6}, "x"), open = placeholder<float>({unknown, unknown}, "open");
  const auto y = nn::group_norm(x, {.groups = 3, .name = "gn"});
  CHECK(g.type_of({g.id_of("gn/gamma"), 0}).shape == shape{6});
  CHECK(g.type_of({g.id_of("gn/beta"), 0}).shape == shape{6});
  CHECK(nn::instance_norm(x, {.center = false, .name = "in"}).shape() == shape{unknown, 4, 4, 6});
  CHECK(!g.find("in/beta"));
  sess.run(global_variables_initializer());
  const auto v = sess.run({{x, tensor<float>(random<float>({2, 4, 4, 6}))}}, reduce_mean(square(y)));
  CHECK(float(v) == Approx(1).epsilon(1e-3));
  CHECK(failure([&] { nn::group_norm(x); }) ==
        "invalid_argument: group_norm of 6 channels in 32 groups, which do not divide them");
  CHECK(failure([&] { nn::group_norm(open, {.groups = 1}); }).find("it takes [n, .., channels]") != std::string::npos);
  CHECK(failure([&] {
          group_norm(x, zeros<float>({5}), zeros<float>({6}), {.groups = 2});
        }).find("a gamma or a beta of shape [5], not [6]") != std::string::npos);
}
