// Workers that read a large model: the variables come as they are needed, and not all at once.
#include "sim_cluster.hpp"

#include <catch2/catch.hpp>

#include <vector>

namespace {

using namespace pinion_tests;

constexpr int layers = 12;
constexpr std::int64_t one = 256 * 512 * 4;  // the bytes of a variable

// A product of a row, which takes long to come, and of many variables of a ps, on a worker.
struct large_model {
  ping_pong row;  // whose graph has all of it
  std::vector<variable_handle<float>> weights;
  expr<float> end;
  operation init;

  explicit large_model() : row(ps_task(0), worker_task(0), 40, 256) {
    {
      const device on{ps_task(0)};
      for (int i = 0; i < layers; ++i)
        weights.push_back(variable(zeros<float>(i % 2 == 0 ? shape{256, 512} : shape{512, 256}), {.name = "weights"}));
    }
    const device on{worker_task(0)};
    end = reshape(row.end, {1, 256});
    for (const auto& w : weights) end = matmul(end, w);
    init = global_variables_initializer();
  }
};

std::int64_t peak_of(sim_cluster& cluster, std::int64_t ahead) {
  large_model f;
  auto options = cluster.toward(worker_task(0));
  options.receive_ahead = ahead;
  session sess{options};
  sess.run(f.init);
  step_trace t;
  CHECK(sess.run(t, f.end) == tensor<float>({1, 256}));
  return t.peak(worker_task(0) + "/device:CPU:0");
}

}  // namespace

TEST_CASE("a worker that reads all variables of a model has few of them at once, if its session says so") {
  sim_cluster cluster;
  CHECK(peak_of(cluster, 0) >= layers * one);
  CHECK(peak_of(cluster, 1000 * one) >= layers * one);
  const std::int64_t late = peak_of(cluster, 2 * one);
  CHECK(late <= 4 * one);  // two ahead, and the one that is read
  CHECK(late >= 2 * one);
}
