// A convolutional network learns handwritten digits: after ten epochs it names more than 99.2 % of MNIST's test digits.
//
//   28 x 28 x 1 ── conv 3 x 3, relu ── pool ── 14 x 14 x 32 ── conv 3 x 3, relu ── pool ── 7 x 7 x 64
//   ── dense 128, relu ── two fifths dropped ── dense 10
//
#include <pinion/train.hpp>

#include "mnist_options.hpp"
#include "model.hpp"
#include "stopwatch.hpp"

namespace pn = pinion;
namespace nn = pinion::nn;
namespace tr = pinion::train;

mnist::model build(const pn::expr<bool>& training, std::int64_t seed) {
  const auto X = pn::placeholder<float>({pn::unknown, 28 * 28}, "X");
  pn::expr<float> h = pn::reshape(X, {-1, 28, 28, 1});
  for (const std::int64_t filters : {32, 64})
    h = pn::max_pool(nn::conv2d(h, filters, {3, 3}, pn::relu, {.padding = pn::padding::same, .seed = seed++}));
  h = nn::dense(pn::reshape(h, {-1, 7 * 7 * 64}), 128, pn::relu, {.seed = seed++});
  h = nn::dropout(h, {.rate = .4, .training = training, .seed = seed++});
  return mnist::judge(X, X, nn::dense(h, 10, {.seed = seed}));
}

void train(const mnist::options& o) {
  const mnist::dataset digits = o.digits();
  fmt::print("{} training and {} test digits: {}\n", digits.train.count, digits.test.count, digits.source);
  constexpr std::int64_t batch = 100;
  const auto count = static_cast<std::int64_t>(digits.train.count), last = o.epochs * (count / batch);

  const auto training = pn::placeholder<bool>({}, "training");
  const mnist::model m = build(training, o.seed);
  const auto step = tr::get_or_create_global_step();
  const auto train = tr::adam{{.learning_rate = mnist::rate(.002, step, last)}}.minimize(m.loss, {.global_step = step});
  tr::monitored_training_session sess{
      {.hooks = {tr::stop_at_step({.last_step = last}), tr::progress_bar({.total_steps = last, .loss = m.loss})},
       .log_step_count_steps = 0}};

  const stopwatch watch;
  const auto all = pn::data::from_tensors(images(digits.train), labels(digits.train));
  const auto seed = static_cast<std::uint64_t>(o.seed);
  for (const auto& [x, y] : all.shuffle(count, seed).batch(batch, {.drop_remainder = true}).repeat().prefetch(2)) {
    if (sess.should_stop()) break;
    sess.run({{m.X, x}, {m.y, y}, {training, true}}, train);
  }
  watch.report(last);

  double right = 0;
  for (const auto& [x, y] : pn::data::from_tensors(images(digits.test), labels(digits.test)).batch(500))
    right += sess.raw_session().run({{m.X, x}, {m.y, y}, {training, false}}, m.accuracy) * double(y.size());
  fmt::print("test accuracy {:.4f}\n", right / static_cast<double>(digits.test.count));
}

int main(int argc, char** argv) try {
  command_line line("Trains a convolutional network on handwritten digits.");
  mnist::options o;
  o.epochs = 10;
  o.add_to(line);
  if (const auto status = line.parse(argc, argv)) return *status;
  train(o);
  return 0;
} catch (const pn::error& e) {
  fmt::print(stderr, "mnist_convolution: {}\n", e.what());
  return 1;
}
