//   threads of the program          the task that holds the queue            training
//
//   rows --enqueue_many-->  [ input: any order, at most 64 ]  --dequeue_many(8)-->  y = w x + b
//            close()        what is left is still taken; then the input has ended
//
#include <pinion/train.hpp>

namespace pn = pinion;
namespace tr = pinion::train;

int main() {
  auto q = pn::random_shuffle_queue<float, float>(
      {.capacity = 64, .min_after_dequeue = 16, .shapes = {{}, {}}, .seed = 1, .name = "input"});
  auto X = pn::placeholder<float>({pn::unknown}, "X");
  auto put = q.enqueue_many(X, X * 3.0f - 1.0f);  // the truth: w = 3, b = -1
  auto shut = q.close();
  auto [x, y] = q.dequeue_up_to(8);

  auto w = pn::variable(0.0f, {.name = "w"});
  auto b = pn::variable(0.0f, {.name = "b"});
  auto step = tr::get_or_create_global_step();
  auto loss = pn::reduce_mean(pn::square(w * x + b - y));
  auto train = tr::adam{{.learning_rate = .1f}}.minimize(loss, {.global_step = step});

  tr::coordinator coord;  // before the session, whose end lets go who waits for room in the queue
  tr::monitored_training_session sess{{}};
  coord.launch("reads the input", [&] {
    for (int chunk = 0; chunk < 100; ++chunk) {  // waits while the queue is full
      pn::tensor<float> rows{{32}};
      for (int i = 0; i < 32; ++i) rows(i) = float((chunk * 32 + i) % 17) / 17;
      sess.raw_session().run({{X, rows}}, put);
    }
    sess.raw_session().run(shut);
  });
  while (!sess.should_stop()) sess.run(train);  // until the queue is closed and empty
  coord.join();

  auto& raw = sess.raw_session();
  fmt::print("{} steps of 8 rows\n", std::int64_t(raw.run(step)));
  fmt::print("w = {:.2f}, b = {:.2f}\n", float(raw.run(w)), float(raw.run(b)));
}
