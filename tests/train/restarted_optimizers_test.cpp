// Training that goes on from a checkpoint does what it would have done without a pause, bit for bit.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <memory>

#include <support/own_graph.hpp>
#include <support/temporary_folder.hpp>

namespace {

using namespace pinion;
namespace tr = pinion::train;

// A row of the table is looked up in each step, and multiplied by a matrix.
template <class Optimizer>
std::pair<tensor<float>, tensor<float>> trained_with_pause(const Optimizer& o, const std::string& path, bool restarts) {
  own_graph f;
  const auto step = tr::get_or_create_global_step();
  auto table = variable(tensor<float>::of({{1, 2}, {3, 4}, {5, 6}}), {.name = "table"});
  auto w = variable(tensor<float>::of({{1, -1, .5}, {.25, 0, 2}}), {.name = "w"});
  const auto rows = placeholder<int>({unknown}, "rows");
  const auto train = o.minimize(reduce_sum(square(matmul(gather(table, rows), w) - 1.f)), {.global_step = step});
  const auto init = global_variables_initializer();
  tr::saver saver;
  auto sess = std::make_unique<session>();
  sess->run(init);
  for (int t = 0; t < 8; ++t) {
    sess->run({{rows, {t % 3, 1}}}, train);
    if (!restarts || t != 4) continue;
    const auto prefix = saver.save(*sess, path, step);
    sess = std::make_unique<session>();
    saver.restore(*sess, prefix);
  }
  auto [a, b] = sess->run(table, w);
  return {a, b};
}

template <class Optimizer>
void continues(const Optimizer& o) {
  temporary_folder dir;
  const auto through = trained_with_pause(o, dir.path("model"), false),
             restarted = trained_with_pause(o, dir.path("model"), true);
  CHECK(through.first == restarted.first);
  CHECK(through.second == restarted.second);
}

}  // namespace

TEST_CASE("a restart from a checkpoint continues bit for bit") {
  continues(tr::adam{{.learning_rate = .1}});
  continues(tr::adamw{{.learning_rate = .1}});
  continues(tr::adamw{{.learning_rate = .1, .lazy = true}});
  continues(tr::lion{{.learning_rate = .1, .weight_decay = .1}});
  continues(tr::lamb{{.learning_rate = .1}});
  continues(tr::adafactor{{.learning_rate = .1, .beta1 = .5}});
  continues(tr::muon{{.learning_rate = .1}});
  continues(tr::accumulate{tr::adamw{{.learning_rate = .1}}, 3});
  continues(tr::mixed_precision{tr::adamw{{.learning_rate = .1}}, {.compute = dtype::half, .growth_interval = 3}});
}
