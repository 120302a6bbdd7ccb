//   begin: restore the newest checkpoint, or initialise
//     |
//   step, step, step ...          hooks before and behind each: stop at a step, log, save, stop early
//     |
//   end: the last checkpoint; the next run of the program goes on from it
//
#include <pinion/train.hpp>

#include <unistd.h>

#include <filesystem>

namespace pn = pinion;
namespace tr = pinion::train;

// y = 2 x + 1, learnt for some steps more.
void train_for(int steps, const std::string& dir) {
  pn::graph g;
  auto use = g.as_default();
  auto X = pn::placeholder<float>({pn::unknown}, "X");
  auto w = pn::variable(0.0f, {.name = "w"});
  auto b = pn::variable(0.0f, {.name = "b"});
  auto step = tr::get_or_create_global_step();
  auto loss = pn::reduce_mean(pn::square(w * X + b - (X * 2.0f + 1.0f)), {.name = "loss"});
  auto train = tr::momentum{{.learning_rate = .1f, .momentum = .5f}}.minimize(loss, {.global_step = step});

  pn::tensor<float> x{{4}, std::vector<float>{-1, 0, 1, 2}};
  tr::monitored_training_session sess{{.checkpoint_dir = dir,
                                       .hooks = {tr::stop_at_step({.num_steps = steps}), tr::nan_tensor(loss)},
                                       .save_checkpoint_steps = 20,
                                       .save_summaries_steps = 0}};
  fmt::print("begins at step {}\n", std::int64_t(sess.raw_session().run(step)));
  while (!sess.should_stop()) sess.run({{X, x}}, train);
  fmt::print("w = {:.2f}, b = {:.2f}\n", float(sess.raw_session().run(w)), float(sess.raw_session().run(b)));
}

int main() {
  const auto dir = std::filesystem::temp_directory_path() / fmt::format("pinion_26_training_{}", ::getpid());
  std::filesystem::remove_all(dir);
  train_for(25, dir);
  train_for(25, dir);  // as if the program was started again
  fmt::print("newest checkpoint: {}\n", std::filesystem::path(tr::latest_checkpoint(dir)).filename().string());
  std::filesystem::remove_all(dir);
}
