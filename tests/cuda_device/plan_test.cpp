// What a plan says of the kernels of a GPU.
#include <catch2/catch.hpp>

#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/server/local_cluster.hpp>
#endif

#include "cuda_device/gpus.hpp"

namespace {

using namespace cuda_tests;

TEST_CASE_METHOD(world, "a plan says how each kernel of a GPU is made, and why one is not recorded", "[stand-in]") {
  const pn::device on{"/gpu:0"};
  auto w = pn::variable(pn::constant<float>({{1, 2}, {3, 4}}), {.name = "w"});
  auto y = pn::reduce_max(pn::tanh(pn::matmul(w, w), "t"), {.name = "most"});
  auto z = pn::conv2d(pn::reshape(w, {1, 2, 2, 1}), pn::reshape(w, {2, 2, 1, 1}), {.name = "conv"});
  auto set = pn::assign(w, pn::matmul(w, w));
  pn::session sess;
  const pn::plan plan = sess.plan(y, z, pn::operation(set));
  CHECK(plan.find("t")->kernel == "CUDA by NVRTC");
  CHECK(plan.find("MatMul")->kernel == "CUDA by cuBLASLt");
  CHECK(plan.find("conv")->kernel == "CUDA by cuDNN");
  CHECK(plan.find("most")->kernel == "CUDA");
  CHECK(plan.find("most")->unrecorded == "");
  CHECK(plan.find(set.name())->unrecorded == "the variable may take over the memory of the value");
  CHECK_THAT(to_string(plan), Catch::Matchers::Contains(
                                  "; CUDA; not recorded, since the variable may take over the memory of the value"));
  CHECK_THAT(plan.to_json(), Catch::Matchers::Contains(R"("kernel": "CUDA by NVRTC", "unrecorded": "")"));
}

TEST_CASE_METHOD(world, "a plan says what computes the products of a layer's training", "[stand-in]") {
  const pn::device on{"/gpu:0"};
  auto x = pn::placeholder<float>({2, 3}, "x");
  auto w = pn::variable(pn::tensor<float>({3, 4})), b = pn::variable(pn::tensor<float>({4}));
  auto last = pn::variable(pn::tensor<float>({4, 2}));
  auto layer = pn::relu(pn::matmul(x, w) + b);
  const auto [by_w, by_b] = pn::gradients(pn::reduce_sum(pn::square(pn::matmul(layer, last))), w, b);
  pn::session sess;
  const pn::plan plan = sess.plan(by_w, by_b);
  int found = 0;
  for (const auto& node : plan.nodes()) {
    if (!node.runs || (node.op != "MatMulBias" && node.op != "MatMulReluGrad")) continue;
    CHECK(node.kernel == "CUDA by cuBLASLt");
    ++found;
  }
  CHECK(found == 2);
}

TEST_CASE_METHOD(world, "a plan says that kernels whose costs are recorded are launched one by one", "[stand-in]") {
  const pn::device on{"/gpu:0"};
  auto y = pn::exp(pn::constant<float>({1, 2})) * 2.f;
  CHECK(pn::session().plan(y).notes().empty());
  const pn::plan plan = pn::session({.record_costs = true}).plan(y);
  REQUIRE(plan.notes().size() == 1);
  CHECK_THAT(plan.notes()[0], Catch::Matchers::Contains("since the session records their costs"));
}

TEST_CASE("kernels of CPUs and of simulated GPUs are host code, and never said to be recorded or not", "[stand-in]") {
  pn::graph g;
  const auto use = g.as_default();
  const pn::device on{"/gpu:0"};
  auto w = pn::variable(pn::constant<float>({{1, 2}, {3, 4}}), {.name = "w"});
  auto set = pn::assign(w, pn::matmul(w, w));
  pn::session sess{{.simulated = {pn::sim::gpu()}}};
  const pn::plan plan = sess.plan(pn::operation(set));
  for (const auto& node : plan.nodes()) CHECK((node.kernel == "" && node.unrecorded == ""));
}

#if PINION_HAS_DISTRIBUTED
TEST_CASE_METHOD(world, "the plan of a cluster's step says what the GPUs of each task get", "[stand-in]") {
  pn::local_cluster tasks{{{"worker", 2}}, {.gpu = {.per_process_memory_fraction = .4}}};
  auto x = pn::placeholder<float>({2}, "x");
  std::vector<pn::expr<float>> y;
  for (const char* where : {"/job:worker/task:0/gpu:0", "/job:worker/task:1/gpu:0"}) {
    const pn::device on{where};
    y.push_back(pn::exp(pn::reshape(x, {2, 1})));
  }
  pn::session sess({.target = tasks.target("worker", 0)});
  for (const auto& d : sess.list_devices()) CHECK(d.libraries.empty());
  const pn::plan plan = sess.plan(y[0], y[1]);
  for (const auto& one : y) CHECK(plan.find(one.name())->kernel == "CUDA by NVRTC");
}
#endif

}  // namespace
