// The memory of the values of a step: runs of sizes that were met before take an arena, and values that leave do not.
#include <pinion/session.hpp>
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <thread>
#include <vector>

#include "support/caught.hpp"
#include "support/own_graph.hpp"

namespace {

using namespace pinion;

const session_options one_thread{.inter_op_threads = 1, .intra_op_threads = 1};

tensor<float> filled(const shape& extent, float value) {
  tensor<float> t(extent);
  for (float& v : t.span()) v = value;
  return t;
}
bool all_are(const tensor<float>& t, float value) {
  for (const float v : t.span())
    if (v != value) return false;
  return t.size() > 0;
}

expr<float> joined(const expr<float>& a, const expr<float>& b) {
  return concat({a, b}, 0);
}

// y = 2 x + 1 by ops with a value each, since products and transposes are not joined; x is square.
expr<float> doubled_and_one(const expr<float>& x) {
  const expr<float> sum = matmul(x, zeros<float>({8, 8})) + x;
  const expr<float> turned = transpose(sum, {1, 0});
  const expr<float> back = transpose(turned + sum, {1, 0});
  return back + 1.0f;
}

const session_options two_threads{.inter_op_threads = 2, .intra_op_threads = 1};

TEST_CASE("a fetched tensor that the user keeps is not overwritten by the next runs") {
  own_graph own;
  const auto x = placeholder<float>({8, 8}, "x");
  session sess(one_thread);
  const auto step = sess.make_callable(feeds(x), fetches(doubled_and_one(x)));
  std::vector<tensor<float>> kept;
  for (int i = 0; i < 8; ++i) kept.push_back(std::get<0>(step(filled({8, 8}, static_cast<float>(i)))));
  for (int i = 0; i < 8; ++i) CHECK(all_are(kept[static_cast<std::size_t>(i)], static_cast<float>(2 * i + 1)));
}

TEST_CASE("batch sizes may alternate, and more of them than there are plans") {
  own_graph own;
  const auto x = placeholder<float>({unknown, 8}, "x");
  const expr<float> product = matmul(x, zeros<float>({8, 8})) + x;
  const expr<float> sum = reduce_sum(product, {.axes = {1}});
  session sess(one_thread);
  const auto step = sess.make_callable(feeds(x), fetches(sum, product * 3.0f));
  for (int turn = 0; turn < 10; ++turn)
    for (const std::int64_t rows : {3, 100, 50, 7, 512, 1, 0, 64, 9}) {
      const auto [s, p] = step(filled({rows, 8}, static_cast<float>(turn)));
      if (rows == 0) continue;
      CHECK(all_are(s, static_cast<float>(8 * turn)));
      CHECK(all_are(p, static_cast<float>(3 * turn)));
    }
}

TEST_CASE("feeds with as many elements may have other shapes, and so other values between") {
  own_graph own;
  const auto x = placeholder<float>({unknown, unknown}, "x");
  const expr<float> squares = matmul(x, x, {.transpose_b = true});
  const expr<float> sums = reduce_sum(squares, {.axes = {1}});
  session sess(one_thread);
  const auto step = sess.make_callable(feeds(x), fetches(sums, squares + 1.0f));
  for (const std::int64_t rows : {2, 2, 2, 6, 2, 18, 18, 3, 36, 1, 1, 1, 2}) {
    const auto [sum, all] = step(filled({rows, 36 / rows}, 1));
    CHECK(all_are(sum, 36));
    CHECK(all.size() == rows * rows);
    CHECK(all_are(all, static_cast<float>(36 / rows + 1)));
  }
}

TEST_CASE("overlapping runs of one callable have values of their own") {
  own_graph own;
  const auto x = placeholder<float>({8, 8}, "x");
  session sess(one_thread);
  const auto step = sess.make_callable(feeds(x), fetches(doubled_and_one(x)));
  const auto runs_well = [&](float value) {
    tensor<float> before;
    for (int i = 0; i < 300; ++i) {
      const auto [y] = step(filled({8, 8}, value));
      if (!all_are(y, 2 * value + 1) || (i > 0 && !all_are(before, 2 * value + 1))) return false;
      before = y;
    }
    return true;
  };
  bool other_good = false;
  std::thread other([&] { other_good = runs_well(3); });
  CHECK(runs_well(-5));
  other.join();
  CHECK(other_good);
}

TEST_CASE("a step that fails half-way leaves its memory to the next run") {
  own_graph own;
  const auto x = placeholder<float>({8, 8}, "x");
  const auto i = placeholder<std::int32_t>({1}, "i");
  const expr<float> sum = doubled_and_one(x);
  const expr<float> row = gather(sum, i);
  session sess(one_thread);
  const auto step = sess.make_callable(feeds(x, i), fetches(row + 0.0f * row));
  for (int turn = 0; turn < 6; ++turn) {
    const auto value = static_cast<float>(turn);
    CHECK(all_are(std::get<0>(step(filled({8, 8}, value), tensor<std::int32_t>::of({1}))), 2 * value + 1));
    CHECK(caught([&] { step(filled({8, 8}, value), tensor<std::int32_t>::of({8})); }).code() == errc::invalid_argument);
  }
}

TEST_CASE("a variable that took an intermediate value keeps it while later runs go on") {
  own_graph own;
  const auto x = placeholder<float>({8, 8}, "x");
  auto v = variable(tensor<float>({8, 8}), {.name = "v"});
  auto w = variable(tensor<float>({8, 8}), {.name = "w"});
  const expr<float> y = doubled_and_one(x);
  const auto put = assign(v, y);
  const auto add = assign_add(w, y);
  session sess(one_thread);
  sess.run(global_variables_initializer());
  const auto both = sess.make_callable(feeds(x), fetches(), targets(put, add));
  const auto other = sess.make_callable(feeds(x), fetches(y));
  float sum = 0;
  for (int i = 0; i < 6; ++i) {
    const auto value = static_cast<float>(i);
    both(filled({8, 8}, value));
    sum += 2 * value + 1;
    const tensor<float> kept = sess.run(v);
    other(filled({8, 8}, -value));
    CHECK(all_are(kept, 2 * value + 1));
    CHECK(all_are(sess.run(v), 2 * value + 1));
    CHECK(all_are(sess.run(w), sum));
  }
}

TEST_CASE("values that a queue took are not overwritten") {
  own_graph own;
  const auto x = placeholder<float>({8, 8}, "x");
  const auto q = fifo_queue<float>({.capacity = 100, .shapes = {{8, 8}}});
  const auto put = q.enqueue(doubled_and_one(x));
  const auto got = q.dequeue();
  session sess(one_thread);
  std::vector<tensor<float>> kept;
  for (int i = 0; i < 5; ++i) sess.run({{x, filled({8, 8}, static_cast<float>(i))}}, put);
  for (int i = 0; i < 5; ++i) kept.push_back(sess.run(got));
  for (int i = 0; i < 5; ++i) CHECK(all_are(kept[static_cast<std::size_t>(i)], static_cast<float>(2 * i + 1)));
}

TEST_CASE("parts of a step that run beside each other have memory of their own") {
  own_graph own;
  const auto x = placeholder<float>({64, 64}, "x");
  std::vector<expr<float>> sums;
  for (int i = 0; i < 6; ++i) {
    expr<float> y = x + static_cast<float>(i);
    for (int k = 0; k < 5; ++k) y = transpose(matmul(y, zeros<float>({64, 64})) + y, {1, 0});
    sums.push_back(y);
  }
  session sess(two_threads);
  const auto step = sess.make_callable(feeds(x), fetches(sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]));
  for (int run = 0; run < 40; ++run) {
    const auto value = static_cast<float>(run);
    const auto [a, b, c, d, e, f] = step(filled({64, 64}, value));
    CHECK((all_are(a, value) && all_are(b, value + 1) && all_are(c, value + 2)));
    CHECK((all_are(d, value + 3) && all_are(e, value + 4) && all_are(f, value + 5)));
  }
}

TEST_CASE("a session tells what it holds, and an arena is a twentieth larger than what is in use at most") {
  own_graph own;
  const auto x = placeholder<float>({50, 784}, "x");
  const auto labels = placeholder<std::int32_t>({50}, "labels");
  expr<float> h = x;
  std::int64_t parameters = 0;
  for (const std::int64_t units : {160, 160, 160, 160, 160, 10}) {
    parameters += (h.shape()[1] + 1) * units;
    const auto w = variable(truncated_normal<float>({h.shape()[1], units}, {.stddev = .1, .seed = 1}));
    const auto b = variable(tensor<float>({units}));
    h = elu(matmul(h, w) + b);
  }
  const expr<float> loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, h));
  const operation train = train::momentum{{.learning_rate = .01f, .momentum = .95f}}.minimize(loss);
  session sess(one_thread);
  CHECK(sess.memory().held() == 0);
  sess.run(global_variables_initializer());
  const std::string before = to_string(sess.plan(loss, train));
  const auto step = sess.make_callable(feeds(x, labels), fetches(loss), targets(train));
  for (int i = 0; i < 3; ++i) step(tensor<float>({50, 784}), tensor<std::int32_t>({50}));

  const memory_use m = sess.memory();
  CHECK(m.variables == 2 * 4 * parameters);
  CHECK(m.live > 4 * 5 * 50 * 160);  // the layers' results; a gradient of weights is never whole in memory
  CHECK(m.arenas >= m.live);
  CHECK(static_cast<double>(m.arenas) < 1.05 * static_cast<double>(m.live));
  CHECK(static_cast<double>(m.held()) < 1.05 * static_cast<double>(m.peak()));
  const std::string after = to_string(sess.plan(loss, train));
  CHECK(before.find("an arena of") == std::string::npos);
  CHECK(after.find("an arena of " + std::to_string(m.arenas) + " bytes, of which " + std::to_string(m.live)) !=
        std::string::npos);
  sess.close();
  CHECK(caught([&] { sess.memory(); }).code() == errc::failed_precondition);
}

TEST_CASE("a fetched tensor outlives its session") {
  own_graph own;
  const auto x = placeholder<float>({8, 8}, "x");
  const auto y = doubled_and_one(x);
  tensor<float> first, last;
  {
    session sess(one_thread);
    const auto step = sess.make_callable(feeds(x), fetches(y));
    first = std::get<0>(step(filled({8, 8}, 1)));
    for (int i = 2; i < 5; ++i) last = std::get<0>(step(filled({8, 8}, static_cast<float>(i))));
  }
  CHECK(all_are(first, 3));
  CHECK(all_are(last, 9));
}

TEST_CASE("loops and conditionals have the right values, run after run") {
  own_graph own;
  const auto x = placeholder<float>({8}, "x");
  const auto n = placeholder<std::int32_t>({}, "n");
  const auto [turns, y] = while_loop([&](auto i, auto) { return i < n; },
                                     [](auto i, auto last) {
                                       const expr<float> twice = joined(last, last);
                                       const expr<float> part = slice(twice, {4}, {8});
                                       return std::tuple{i + 1, part + 1.0f};
                                     },
                                     0, x);
  const auto z = cond(
      n < 3, [&] { return joined(y, y); }, [&] { return joined(y, x); });
  session sess(one_thread);
  const auto step = sess.make_callable(feeds(x, n), fetches(y, z));
  for (const std::int32_t times : {1, 2, 7, 0, 30, 7}) {
    const auto [last, both] = step(filled({8}, 0.5f), tensor<std::int32_t>(times));
    CHECK(all_are(last, static_cast<float>(times) + 0.5f));
    CHECK(both.size() == 16);
    CHECK(both(0) == static_cast<float>(times) + 0.5f);
    CHECK(both(15) == (times < 3 ? static_cast<float>(times) + 0.5f : 0.5f));
  }
}

}  // namespace
