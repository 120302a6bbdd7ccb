// Handwritten digits, by a network that is cut over devices, each of which holds its part of the weights.
//
//   --cut units: every layer                   --cut layers
//
//   X ──┬── 80 units ──┬── 80 units ── ...     X ── layer 0 ── layer 1 ──┐       /cpu:0
//       │              ╳                                                 │
//       └── 80 units ──┴── 80 units ── ...             layer 2 ── 3 ── 4 ┴─ ...  /cpu:1
//
#include <pinion/train.hpp>

#include "mnist_options.hpp"
#include "model.hpp"
#include "stopwatch.hpp"

namespace pn = pinion;
namespace tr = pinion::train;

// The logits. A layer on one device alone is a dense layer like any other, so all three cuts begin with the same
// weights.
pn::expr<float> network(const pn::expr<float>& pixels, const std::string& cut, const std::vector<std::string>& devices,
                        std::int64_t seed) {
  std::vector<pn::expr<float>> h{pixels};
  for (std::size_t i = 0; i < 5; ++i) {
    const std::size_t one = cut == "layers" ? i * devices.size() / 5 : 0;
    const auto where = cut == "units" ? devices : std::vector{devices[one]};
    const auto draw = pn::nn::he_normal_initializer(seed + static_cast<std::int64_t>(i));
    h = pn::nn::split_dense(h, 160, where, pn::nn::elu, {.kernel_initializer = draw, .name = "layer"});
  }
  const pn::device last(cut == "none" ? devices.front() : devices.back());
  return pn::nn::dense(pn::concat(h, 1), 10, {.seed = seed + 5, .name = "head"});
}

void train(const mnist::options& o, const std::string& cut, int parts, bool show) {
  const auto digits = o.digits();
  fmt::print("{}\n", digits.source);
  std::vector<std::string> devices;
  for (int i = 0; i < parts; ++i) devices.push_back("/cpu:" + std::to_string(i));

  auto X = pn::placeholder<float>({pn::unknown, 784}, "X");
  const auto pixels = mnist::drop(X, .1, o.seed);
  const mnist::model m = mnist::judge(X, pixels, network(pixels, cut, devices, o.seed));
  constexpr std::int64_t batch = 50;
  const std::int64_t last = o.epochs * (static_cast<std::int64_t>(digits.train.count) / batch);
  auto step = tr::get_or_create_global_step();
  const tr::momentum optimizer{{.learning_rate = mnist::rate(.02, step, last), .momentum = .95}};
  auto train = optimizer.minimize(m.loss, {.global_step = step});

  pn::session sess{{.cpu_devices = parts}};
  const pn::plan plan = sess.plan(train, m.loss);
  if (show)
    for (const auto& t : plan.transfers()) fmt::print("{:<60} {:>8} bytes  {} -> {}\n", t.value, t.bytes, t.from, t.to);
  fmt::print("{}\n", totals_table(plan));

  sess.run(pn::global_variables_initializer());
  auto train_step = sess.make_callable(pn::feeds(m.X, m.y), pn::fetches(m.loss), pn::targets(train));
  mnist::batches batches(digits.train, batch, static_cast<std::uint64_t>(o.seed));
  const stopwatch watch;
  for (std::int64_t i = 0; i < last; ++i) {
    const auto [x, y] = batches.next();
    train_step(x, y);
  }
  watch.report(last);
  fmt::print("test accuracy {:.4f}\n", mnist::test(sess, m, digits.test));
}

int main(int argc, char** argv) try {
  command_line line("Trains a network of five hidden layers on handwritten digits, cut over devices.");
  mnist::options o;
  std::string cut = "units";
  int parts = 2;
  bool show = true;
  o.add_to(line);
  line.add("--cut", cut, "through the units of each layer, between layers, or not at all", {"units", "layers", "none"});
  line.add("--devices", parts, "devices of this machine", {1, 64});
  line.add_flag("--plan,!--no-plan", show, "print what crosses between the devices in a step");
  if (const auto status = line.parse(argc, argv)) return *status;
  train(o, cut, parts, show);
  return 0;
} catch (const pn::error& e) {
  fmt::print(stderr, "mnist_split: {}\n", e.what());
  return 1;
}
