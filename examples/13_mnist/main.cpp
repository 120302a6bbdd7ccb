// Handwritten digits, from pixels to a trained model in one process.
//
//   X [50, 784] ── 5 x (MatMul ── bias, ELU) [50, 160] ── MatMul ── bias [50, 10] ── cross entropy ── loss
//
#include <pinion/pinion.hpp>

#include <CLI/CLI.hpp>

#include "mnist.hpp"
#include "progress.hpp"

namespace pn = pinion;
namespace tr = pinion::train;

struct model {
  pn::expr<float> X, loss, accuracy;
  pn::expr<std::int32_t> y;
};

// The layers are made in a loop: every expression converts to the storable pn::expr<float>.
model build(int hidden_layers, std::int64_t units, std::int64_t seed) {
  auto X = pn::placeholder<float>({pn::unknown, 784}, "X");
  auto y = pn::placeholder<std::int32_t>({pn::unknown}, "y");
  pn::expr<float> h = X;
  for (int i = 0; i < hidden_layers; ++i) {
    const pn::name_scope layer("layer");
    const auto inputs = h.shape()[1];
    const double stddev = std::sqrt(2.0 / static_cast<double>(inputs));
    auto W = pn::variable(pn::truncated_normal<float>({inputs, units}, {.stddev = stddev, .seed = seed + i}), {.name = "W"});
    auto b = pn::variable(pn::tensor<float>({units}), {.name = "b"});
    h = pn::elu(pn::matmul(h, W) + b);
  }
  auto W = pn::variable(pn::truncated_normal<float>({units, 10}, {.stddev = .1, .seed = seed + hidden_layers}), {.name = "W"});
  auto b = pn::variable(pn::tensor<float>({10}), {.name = "b"});
  pn::expr<float> logits = pn::matmul(h, W) + b;
  auto loss = pn::reduce_mean(pn::sparse_softmax_cross_entropy_with_logits(y, logits));
  auto accuracy = pn::reduce_mean(pn::cast<float>(pn::in_top_k(logits, y, 1)));
  return {X, loss, accuracy, y};
}

int run(const std::string& data, int epochs, int threads, bool show_plan) {
  const auto digits = mnist::open(data);
  fmt::print("{} training and {} test digits: {}\n\n", digits.train.count, digits.test.count, digits.source);

  const model m = build(5, 160, 42);
  auto step = tr::get_or_create_global_step();
  auto train = tr::momentum{{.learning_rate = .01f, .momentum = .95f}}.minimize(m.loss, {.global_step = step});
  auto init = pn::global_variables_initializer();

  pn::session sess{{.inter_op_threads = threads, .intra_op_threads = threads}};
  if (show_plan) fmt::print("{}\n\n", sess.plan(m.accuracy));
  sess.run(init);

  constexpr std::int64_t batch = 50;
  mnist::batches batches(digits.train, batch, 7);
  pn::tensor<float> images({batch, 784});
  pn::tensor<std::int32_t> labels({batch});
  auto train_step = sess.make_callable(pn::feeds(m.X, m.y), pn::fetches(m.loss), pn::targets(train));
  progress line(epochs, batches.per_epoch());
  while (static_cast<int>(batches.epoch()) < epochs) {
    batches.next(images.data(), labels.data());
    auto [loss] = train_step(images, labels);
    line.step(loss);
  }
  line.finish();

  const pn::tensor<float> test_images({static_cast<std::int64_t>(digits.test.count), 784}, digits.test.images);
  const pn::tensor<std::int32_t> test_labels({static_cast<std::int64_t>(digits.test.count)}, digits.test.labels);
  const float accuracy = sess.run({{m.X, test_images}, {m.y, test_labels}}, m.accuracy);
  fmt::print("test accuracy {:.4f}\n", accuracy);
  return 0;
}

int main(int argc, char** argv) try {
  CLI::App app("Trains a network of five hidden layers on handwritten digits.");
  std::string data;
  int epochs = 64, threads = 0;
  bool show_plan = true;
  app.add_option("--data", data, "folder of the four IDX files, gzip or raw (default: PINION_MNIST_DIR, else drawn digits)");
  app.add_option("--epochs", epochs, "passes over the training digits")->check(CLI::PositiveNumber);
  app.add_option("--threads", threads, "threads to compute with (0: one a core)");
  app.add_flag("--plan,!--no-plan", show_plan, "print where each node goes");
  CLI11_PARSE(app, argc, argv);
  return run(data, epochs, threads, show_plan);
} catch (const pn::error& e) {
  fmt::print(stderr, "mnist: {}\n", e.what());
  return 1;
}
