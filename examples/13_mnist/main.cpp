// Handwritten digits, from pixels to a trained model in one process.
//
//   X [50, 784] ── 5 x (MatMul ── bias, ELU) [50, 160] ── MatMul ── bias [50, 10] ── cross entropy ── loss
//
#include <pinion/train.hpp>

#include <CLI/CLI.hpp>

#include "mnist.hpp"
#include "model.hpp"
#include "progress.hpp"

namespace pn = pinion;
namespace tr = pinion::train;

int run(const std::string& data, int epochs, int threads, bool show_plan) {
  const auto digits = mnist::open(data);
  fmt::print("{} training and {} test digits: {}\n\n", digits.train.count, digits.test.count, digits.source);

  const mnist::model m = mnist::build(5, 160, 42);
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

  fmt::print("test accuracy {:.4f}\n", mnist::test(sess, m, digits.test));
  return 0;
}

int main(int argc, char** argv) try {
  CLI::App app("Trains a network of five hidden layers on handwritten digits.");
  std::string data;
  int epochs = 64, threads = 0;
  bool show_plan = true;
  app.add_option("--data", data,
                 "folder of the four IDX files, gzip or raw (default: PINION_MNIST_DIR, else drawn digits)");
  app.add_option("--epochs", epochs, "passes over the training digits")->check(CLI::PositiveNumber);
  app.add_option("--threads", threads, "threads to compute with (0: one a core)");
  app.add_flag("--plan,!--no-plan", show_plan, "print where each node goes");
  CLI11_PARSE(app, argc, argv);
  return run(data, epochs, threads, show_plan);
} catch (const pn::error& e) {
  fmt::print(stderr, "mnist: {}\n", e.what());
  return 1;
}
