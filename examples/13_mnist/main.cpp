// Handwritten digits, from pixels to a trained model in one process. A twelfth of them is held out; the model that does
// best on those is kept, and training ends when it gets no better.
//
//   X [50, 784] ── a tenth dropped ── 5 x (MatMul ── bias, ELU) [50, 160] ── MatMul ── bias [50, 10] ── cross entropy
//   ── loss
//
//   55000 digits ── shuffle ── batch ── monitored session ── best on 5000 more ── tested on 10000 others
//
#include <pinion/train.hpp>

#include "mnist_options.hpp"
#include "model.hpp"
#include "stopwatch.hpp"

namespace pn = pinion;
namespace tr = pinion::train;

void train(const mnist::options& o, int patience) {
  mnist::dataset digits = o.digits();
  const mnist::digits validation = mnist::hold_out(digits.train, digits.train.count / 12);
  fmt::print("{} training, {} validation and {} test digits: {}\n", digits.train.count, validation.count,
             digits.test.count, digits.source);
  constexpr std::int64_t batch = 50;
  const auto count = static_cast<std::int64_t>(digits.train.count), epoch = count / batch, last = o.epochs * epoch;

  const mnist::model m = mnist::build(5, 160, o.seed, .1);
  auto step = tr::get_or_create_global_step();
  const tr::momentum optimizer{{.learning_rate = mnist::rate(.02, step, last), .momentum = .95}};
  auto train = optimizer.minimize(m.loss, {.global_step = step});

  const tr::early_stopping best({.metric = [&](pn::session& s) { return mnist::test(s, m, validation); },
                                 .patience = patience,
                                 .every_n_steps = epoch});
  const tr::final_ops test(
      {.feeds = {{m.pixels, images(digits.test)}, {m.y, labels(digits.test)}}, .fetches = {m.accuracy}});
  tr::monitored_training_session sess{
      {.hooks = {best, test, tr::stop_at_step({.last_step = last}), tr::nan_tensor(m.loss),
                 tr::progress_bar({.total_steps = last, .loss = m.loss})},
       .log_step_count_steps = 0}};

  const stopwatch watch;
  const auto all = pn::data::from_tensors(images(digits.train), labels(digits.train));
  const auto seed = static_cast<std::uint64_t>(o.seed);
  for (const auto& [x, y] : all.shuffle(count, seed).batch(batch, {.drop_remainder = true}).repeat().prefetch(2)) {
    if (sess.should_stop()) break;
    sess.run({{m.X, x}, {m.y, y}}, train);
  }
  watch.report(sess.raw_session().run(step));
  sess.close();  // the best model comes back, and is tested
  fmt::print("validation accuracy {:.4f}, at step {}\n", best.best(), best.best_step());
  fmt::print("test accuracy {:.4f}\n", float(pn::tensor<float>(test.values()[0])));
}

int main(int argc, char** argv) try {
  command_line line("Trains a network of five hidden layers on handwritten digits.");
  mnist::options o;
  int patience = 10;
  o.add_to(line);
  line.add("--patience", patience, "epochs without a better model before training ends");
  if (const auto status = line.parse(argc, argv)) return *status;
  train(o, patience);
  return 0;
} catch (const pn::error& e) {
  fmt::print(stderr, "mnist: {}\n", e.what());
  return 1;
}
