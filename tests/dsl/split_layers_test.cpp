// Layers that are cut by their units.
#include <catch2/catch.hpp>

#include <set>

#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/own_graph.hpp"

namespace {

namespace pn = pinion;
namespace nn = pinion::nn;

struct fixture : own_graph {
  pn::expr<float> x = pn::placeholder<float>({pn::unknown, 3}, "x");
  pn::session sess{{.cpu_devices = 2}};
  const std::vector<std::string> two{"/cpu:0", "/cpu:1"};
};

float most_apart(const pn::tensor<float>& a, const pn::tensor<float>& b) {
  REQUIRE(a.shape() == b.shape());
  float most = 0;
  for (std::size_t i = 0; i < a.span().size(); ++i) most = std::max(most, std::abs(a.span()[i] - b.span()[i]));
  return most;
}

}  // namespace

TEST_CASE_METHOD(fixture, "a layer that is split computes what the whole one does, forward and backward") {
  const auto draw = nn::he_normal_initializer(5);
  const auto level = nn::glorot_uniform_initializer(6);
  const nn::dense_options first{.kernel_initializer = draw, .bias_initializer = level, .name = "whole"};
  auto split = first;
  split.name = "split";
  const auto whole = nn::dense(nn::dense(x, 5, nn::elu, first), 7, first);
  const auto parts = nn::split_dense(nn::split_dense(x, 5, two, nn::elu, split), 7, two, nullptr, split);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].shape() == pn::shape{pn::unknown, 4});  // the first has one more
  CHECK(parts[1].shape() == pn::shape{pn::unknown, 3});
  auto [by_whole] = pn::gradients(pn::square(whole), x);
  auto [by_parts] = pn::gradients(pn::square(pn::concat(parts, 1)), x);
  sess.run(pn::global_variables_initializer());
  auto [a, b, da, db] = sess.run({{x, {{1, 2, 3}, {-1, .5, 0}}}}, whole, pn::concat(parts, 1), by_whole, by_parts);
  CHECK(most_apart(a, b) < 1e-5f);
  CHECK(most_apart(da, db) < 1e-4f);
}

TEST_CASE_METHOD(fixture, "each device holds its part of a split layer, and the plan tells what crosses") {
  const auto h = nn::split_dense(x, 4, two, nn::elu, {.name = "lower"});
  const auto y = pn::concat(nn::split_dense(h, 2, two, nullptr, {.use_bias = false, .name = "upper"}), 1);
  const auto plan = sess.plan(y);
  CHECK(plan.device_of("lower/part_0/kernel").ends_with("CPU:0"));
  CHECK(plan.device_of("lower/part_1/kernel").ends_with("CPU:1"));
  CHECK(plan.device_of("upper/part_1/MatMul").ends_with("CPU:1"));
  CHECK(g.find("upper/part_0/bias") == std::nullopt);
  std::set<std::string> crossing;
  for (const auto& t : plan.transfers()) crossing.insert(t.value + " to " + std::to_string(t.to));
  CHECK(crossing.count("lower/part_0/Elu to 1") == 1);
  CHECK(crossing.count("lower/part_1/Elu to 0") == 1);
}

TEST_CASE_METHOD(fixture, "a layer that cannot be split says why") {
  CHECK(refusal([&] { nn::split_dense(x, 4, {}, nn::elu); }, pn::errc::invalid_argument, "4 units", "over 0 devices") ==
        "");
  CHECK(refusal([&] { nn::split_dense(x, 1, two, nn::elu); }, pn::errc::invalid_argument, "1 units",
                "over 2 devices") == "");
  auto open = pn::placeholder<float>({pn::unknown, pn::unknown}, "open");
  CHECK(refusal([&] { nn::split_dense(open, 4, two, nn::elu); }, pn::errc::invalid_argument, "'open'",
                "known number of columns") == "");
}
