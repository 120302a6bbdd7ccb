// Writes a run for TensorBoard into the directory it is given; train/read_with_tensorboard.py knows what is in it.
#include <cstdio>

#include <pinion/train.hpp>

namespace tr = pinion::train;
using namespace pinion;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  graph g;
  const auto use = g.as_default();
  auto n = placeholder<float>({}, "n");
  auto w = [] {
    const device on{"/gpu:0"};
    return variable(tensor<float>::of({{-2, -1, 0}, {.5f, 1, 1}}), {.name = "w"});
  }();
  auto loss = place<"/gpu:0">(reduce_sum(w * n));
  tr::summary::scalar("loss", loss);
  {
    const name_scope scope{"layer"};
    tr::summary::histogram("w", w);
    tr::summary::histogram("nothing", constant(tensor<float>({0})));
  }
  tr::summary::image("picture", constant(tensor<float>({4, 2, 3, 3})));
  tr::summary::text("note", constant(std::string("*hello*")));
  tr::summary::text("table", constant<std::string>({{"a", "b"}, {"c", "\xc3\xa4"}}));
  auto merged = tr::summary::merge_all();

  session sess{{.simulated = {sim::gpu()}}};
  sess.run(global_variables_initializer());
  tr::summary_writer writer{argv[1], {.flush_secs = 0}};
  writer.add_graph(g, sess.plan(merged));
  writer.add_hparams({{"rate", .5}, {"layers", 3}, {"kind", "deep"}, {"fast", true}});
  writer.add_session_log(tr::session_mark::start, 0);
  for (int step = 1; step <= 3; ++step) writer.add(sess.run({{n, static_cast<float>(step)}}, merged), step);
  writer.add_session_log(tr::session_mark::start, 2);  // as after a restore: steps 2 and 3 come again
  for (int step = 2; step <= 4; ++step) writer.add(sess.run({{n, static_cast<float>(10 * step)}}, merged), step);
  writer.add_scalar("plain", -1.5f, 7);
  writer.add_text("direct", "# title", 7);
  writer.close();
  tr::write_graph(g, argv[1]);
  std::printf("%s\n", writer.path().c_str());
}
