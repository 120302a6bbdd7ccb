// A queue out of a list of them, chosen when the step runs.
#include <pinion/session.hpp>

#include <catch2/catch.hpp>

#include <future>

#include <support/caught.hpp>
#include <support/own_graph.hpp>

namespace {

using namespace pinion;

struct two_queues : own_graph {
  fifo_queue<float> a{{.capacity = 2, .shapes = {{}}, .name = "a"}}, b{{.capacity = 2, .shapes = {{}}, .name = "b"}};
  expr<int> index = placeholder<int>({}, "index");
  expr<float> x = placeholder<float>({}, "x");
  chosen_queue<float> chosen = queue_from_list(index, {a, b});
  operation put = chosen.enqueue(x);
  expr<float> get = chosen.dequeue();
  expr<int> left_a = a.size(), left_b = b.size();
  session sess;
  void puts(int i, float value) { sess.run({{index, i}, {x, value}}, put); }
  float gets(int i) { return sess.run({{index, i}}, get); }
};

}  // namespace

TEST_CASE("what is asked of a chosen queue is done with that queue alone") {
  two_queues f;
  f.puts(0, 1);
  f.puts(1, 2);
  f.puts(1, 3);
  CHECK(int(f.sess.run(f.left_a)) == 1);
  CHECK(int(f.sess.run(f.left_b)) == 2);
  CHECK(f.gets(1) == 2);
  CHECK(f.gets(0) == 1);
  CHECK(int(f.sess.run(f.left_a)) == 0);
  CHECK(int(f.sess.run(f.left_b)) == 1);
}

TEST_CASE("a chosen queue is waited for, and closed, as a queue is") {
  two_queues f;
  auto shut = f.chosen.close();
  auto closed = f.chosen.is_closed();
  auto waits = std::async(std::launch::async, [&] { return f.gets(1); });
  f.puts(1, 7);
  CHECK(waits.get() == 7);
  f.sess.run({{f.index, 0}}, shut);
  CHECK(bool(f.sess.run({{f.index, 0}}, closed)));
  CHECK(!bool(f.sess.run({{f.index, 1}}, closed)));
  CHECK(refusal([&] { f.gets(0); }, errc::out_of_range, "'a'") == "");
}

TEST_CASE("elements of several components come from one of three queues, many at once") {
  graph g;
  const default_scope use = g.as_default();
  using kind = fifo_queue<float, int>;
  const queue_options o{.capacity = 9, .shapes = {{2}, {}}};
  kind a{o}, b{o}, c{o};
  auto index = placeholder<int>({}, "index");
  auto q = queue_from_list(index, {a, b, c});
  auto put = q.enqueue_many(tensor<float>::of({{1, 2}, {3, 4}}), tensor<int>::of({5, 6}));
  auto [x, n] = q.dequeue_many(2);
  auto size = q.size();
  session sess;
  for (int i = 0; i < 3; ++i) {
    sess.run({{index, i}}, put);
    const auto [got_x, got_n] = sess.run({{index, i}}, x, n);
    CHECK(got_x == tensor<float>::of({{1, 2}, {3, 4}}));
    CHECK(got_n == tensor<int>::of({5, 6}));
    CHECK(int(sess.run({{index, i}}, size)) == 0);
  }
}

TEST_CASE("a number that no queue has is refused, and so is a list without queues") {
  two_queues f;
  CHECK(refusal([&] { f.gets(2); }, errc::invalid_argument, "index 2") == "");
  CHECK(refusal([&] { queue_from_list(f.index, std::vector<queue<float>>{}); }, errc::invalid_argument, "no queues") ==
        "");
}
