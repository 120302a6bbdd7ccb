// Blocks of a transformer that are split over devices.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <pinion/nn/split_blocks.hpp>
#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"

namespace {

namespace pn = pinion;
namespace nn = pinion::nn;

struct split_blocks_fixture : own_graph {
  pn::expr<float> x = pn::placeholder<float>({pn::unknown, 5, 8}, "x");
  pn::session sess{{.cpu_devices = 2}};
  const std::vector<std::string> two{"/cpu:0", "/cpu:1"};

  static pn::tensor<float> waves(const pn::shape& of) {
    pn::tensor<float> t(of);
    for (std::size_t i = 0; i < t.span().size(); ++i) t.data()[i] = std::sin(static_cast<float>(i) * .7f);
    return t;
  }
  // The greatest difference between two results, and between their gradients.
  float most_apart(const pn::expr<float>& a, const pn::expr<float>& b) {
    auto [by_a] = pn::gradients(pn::square(a), x);
    auto [by_b] = pn::gradients(pn::square(b), x);
    sess.run(pn::global_variables_initializer());
    const auto distance = [](const pn::expr<float>& p, const pn::expr<float>& q) {
      return pn::expr<float>(pn::reduce_max(pn::abs(p - q)));
    };
    auto [y, dx] = sess.run({{x, waves({3, 5, 8})}}, distance(a, b), distance(by_a, by_b));
    return std::max(*y.data(), *dx.data());
  }
  // The values that cross from one device to another for a result.
  std::multiset<std::string> crossing(const pn::expr<float>& y) {
    std::multiset<std::string> all;
    const auto plan = sess.plan(y);
    for (const auto& t : plan.transfers()) all.insert(t.value);
    return all;
  }
};

}  // namespace

TEST_CASE_METHOD(split_blocks_fixture, "a feed-forward layer that is split computes what two dense layers do") {
  const auto draw = nn::he_normal_initializer(5);
  const auto level = nn::glorot_uniform_initializer(6);
  const nn::dense_options whole{.kernel_initializer = draw, .bias_initializer = level, .name = "whole"};
  const auto a = nn::dense(nn::dense(x, 7, pn::tanh, whole), 8, whole);
  const auto b = nn::split_feed_forward(x, 7, two, pn::tanh, {.kernel_initializer = draw, .bias_initializer = level});
  CHECK(b.shape() == x.shape());
  CHECK(most_apart(a, b) < 1e-4f);
}

TEST_CASE_METHOD(split_blocks_fixture, "kernels by a seed are those of the layers by it and the next one") {
  const auto h = nn::dense(x, 6, nn::relu, {.seed = 3, .name = "up"});
  const auto a = nn::dense(h, 8, {.seed = 4, .name = "down"});
  CHECK(most_apart(a, nn::split_feed_forward(x, 6, two, nn::relu, {.seed = 3})) < 1e-4f);
}

TEST_CASE_METHOD(split_blocks_fixture, "a layer that is split has its variables on the devices, and one sum") {
  const auto y = nn::split_feed_forward(x, 6, two, nn::relu, {.name = "mlp"});
  const auto plan = sess.plan(y);
  CHECK(plan.device_of("mlp/part_0/up/kernel").ends_with("CPU:0"));
  CHECK(plan.device_of("mlp/part_1/up/bias").ends_with("CPU:1"));
  CHECK(plan.device_of("mlp/part_1/down/kernel").ends_with("CPU:1"));
  CHECK(plan.device_of("mlp/down/bias").ends_with("CPU:0"));
  CHECK(plan.device_of("mlp/sum").ends_with("CPU:0"));
  CHECK(crossing(y) == std::multiset<std::string>{"mlp/part_1/down/BatchMatMulV2", "x"});
}

TEST_CASE_METHOD(split_blocks_fixture, "attention whose heads are split computes what the whole one does") {
  const auto check = [&](nn::multi_head_attention_options o) {
    o.name = "whole";
    const auto a = nn::multi_head_attention(x, o);
    o.name = "split";
    CHECK(most_apart(a, nn::split_multi_head_attention(x, two, o)) < 1e-4f);
  };
  check({.heads = 4, .seed = 7});
  check({.heads = 4, .key_heads = 2, .causal = true, .seed = 8});
  check({.heads = 3, .depth = 5, .use_bias = false, .seed = 9});
  const auto masks = pn::constant(waves({4, 5, 5})) > -.3f;
  check({.heads = 4, .mask = masks, .seed = 10});
  check({.heads = 2, .mask = pn::constant(waves({5, 5})), .seed = 11});
}

TEST_CASE_METHOD(split_blocks_fixture, "attention to another sequence is split as well") {
  const auto memory = pn::constant(waves({3, 4, 6}));
  const nn::multi_head_attention_options o{.heads = 2, .seed = 12};
  const auto a = nn::multi_head_attention(x, memory, o);
  CHECK(most_apart(a, nn::split_multi_head_attention(x, memory, two, o)) < 1e-4f);
}

TEST_CASE_METHOD(split_blocks_fixture, "heads are on their devices, and one sum joins them") {
  const auto y = nn::split_multi_head_attention(x, two, {.heads = 2, .name = "mha"});
  const auto plan = sess.plan(y);
  CHECK(plan.device_of("mha/part_0/query/kernel").ends_with("CPU:0"));
  CHECK(plan.device_of("mha/part_1/value/bias").ends_with("CPU:1"));
  CHECK(plan.device_of("mha/part_1/attention").ends_with("CPU:1"));
  CHECK(plan.device_of("mha/attention_output/bias").ends_with("CPU:0"));
  CHECK(crossing(y).size() == 2);  // x, and the part of the second device
}

TEST_CASE_METHOD(split_blocks_fixture, "a block that cannot be split says why") {
  const auto refuses = [](auto&& make, const std::string& says) {
    return refusal([&] { make(); }, pn::errc::invalid_argument, says);
  };
  CHECK(refuses([&] { nn::split_feed_forward(x, 4, {}, nn::relu); }, "4 units cannot be split over 0 devices") == "");
  CHECK(refuses([&] { nn::split_feed_forward(x, 1, two, nn::relu); }, "1 units cannot be split over 2") == "");
  CHECK(refuses([&] { nn::split_multi_head_attention(x, two, {.heads = 2, .key_heads = 1}); },
                "1 heads of keys cannot be split over 2 devices") == "");
  const auto open = pn::placeholder<float>({pn::unknown, pn::unknown}, "open");
  CHECK(refuses([&] { nn::split_feed_forward(open, 4, two, nn::relu); }, "'open'") == "");
}
