// Updates by the gradients of several steps.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <limits>
#include <memory>

#include <support/caught.hpp>
#include <support/own_graph.hpp>
#include <support/temporary_folder.hpp>
#include <support/tensor_text.hpp>

namespace {

using namespace pinion;
namespace tr = pinion::train;

// The mean of (x w + b - 1)^2 over the rows that are fed.
struct fed_model : own_graph {
  variable_handle<std::int64_t> step = tr::get_or_create_global_step();
  variable_handle<double> w = variable(tensor<double>::of({{.5, -1}, {.25, 2}}), {.name = "w"});
  variable_handle<double> b = variable(tensor<double>::of({.5, 0}), {.name = "b"});
  expr<double> x = placeholder<double>({unknown, 2}, "x");
  expr<double> loss = reduce_mean(square(matmul(x, w) + b - 1.));
};

tensor<double> micro_batch(int from, int to) {
  tensor<double> t({to - from, 2});
  for (int i = from; i < to; ++i) t(i - from, 0) = .5 * i - 1, t(i - from, 1) = 1.5 - .25 * i * i;
  return t;
}

template <class T>
void expect_close(const tensor<T>& a, const tensor<T>& b) {
  REQUIRE(a.shape() == b.shape());
  for (std::size_t i = 0; i < a.span().size(); ++i) CHECK(a.span()[i] == Approx(b.span()[i]).epsilon(1e-9));
}

template <class Optimizer>
void same_as_one_batch(const Optimizer& o, const session_options& options = {}) {
  fed_model parts, whole;
  const auto in_parts = [&] {
    const auto use = parts.g.as_default();
    return tr::accumulate{o, 3}.minimize(parts.loss, {.global_step = parts.step});
  }();
  const auto at_once = [&] {
    const auto use = whole.g.as_default();
    return o.minimize(whole.loss, {.global_step = whole.step});
  }();
  const auto session_of = [&](fed_model& m) {
    const auto use = m.g.as_default();
    auto sess = std::make_unique<session>(options);
    sess->run(global_variables_initializer());
    return sess;
  };
  const auto a = session_of(parts), b = session_of(whole);
  for (int update = 0; update < 4; ++update) {
    for (int i = 0; i < 3; ++i) {
      a->run({{parts.x, micro_batch(2 * i, 2 * i + 2)}}, in_parts);
      CHECK(std::int64_t(a->run(parts.step)) == update + (i == 2));
      if (i < 2) expect_close(a->run(parts.w), b->run(whole.w));
    }
    b->run({{whole.x, micro_batch(0, 6)}}, at_once);
    expect_close(a->run(parts.w), b->run(whole.w));
    expect_close(a->run(parts.b), b->run(whole.b));
  }
  CHECK_FALSE(b->run(whole.w) == tensor<double>::of({{.5, -1}, {.25, 2}}));
}

}  // namespace

TEST_CASE("micro-batches make the update of the whole micro_batch, by every optimizer") {
  same_as_one_batch(tr::gradient_descent{{.learning_rate = .1}});
  same_as_one_batch(tr::momentum{{.learning_rate = .1, .momentum = .5}});
  same_as_one_batch(tr::adagrad{{.learning_rate = .1}});
  same_as_one_batch(tr::rmsprop{{.learning_rate = .1, .centered = true}});
  same_as_one_batch(tr::adam{{.learning_rate = .1}});
  same_as_one_batch(tr::adamw{{.learning_rate = .1, .weight_decay = .1}});
  same_as_one_batch(tr::lion{{.learning_rate = .1}});
  same_as_one_batch(tr::lamb{{.learning_rate = .1}});
  same_as_one_batch(tr::adafactor{{.learning_rate = .1, .beta1 = .5}});
  same_as_one_batch(tr::muon{{.learning_rate = .1}});
}

TEST_CASE("micro-batches make the update of the whole micro_batch on another device") {
  same_as_one_batch(tr::adam{{.learning_rate = .1}}, {.simulated = {sim::gpu()}});
  same_as_one_batch(tr::lamb{{.learning_rate = .1}}, {.simulated = {sim::gpu()}});
}

TEST_CASE("accumulated gradients are state, of the variables' own device, that is not trained") {
  graph g;
  const auto use = g.as_default();
  auto w = [] {
    const device on{"/gpu:0"};
    return variable(tensor<float>::of({1, 2}), {.name = "w"});
  }();
  const tr::accumulate o{tr::adam{{}}, 2};
  const auto train = o.minimize(reduce_sum(square(w)));
  const auto init = global_variables_initializer();
  session sess{{.simulated = {sim::gpu()}}};
  CHECK(sess.plan(train, init).device_of("w/Accumulated") == sess.plan(train, init).device_of("w"));
  CHECK(g.collection("trainable_variables").size() == 1);
  CHECK(o.wrapped().get_slot(w, "m").name() == "w/Adam");
  sess.run(init);
  sess.run(train);
  CHECK(sess.run(w) == tensor<float>::of({1, 2}));
  auto mean = tr::handle_of<float>(g, g.id_of("w/Accumulated"));
  CHECK(sess.run(mean) == tensor<float>::of({1, 2}));
  sess.run(train);
  CHECK(sess.run(w)(0) == Approx(.999f));
  CHECK(sess.run(mean) == tensor<float>::of({0, 0}));
}

TEST_CASE("sparse gradients are added to their rows") {
  own_graph f;
  auto table = variable(tensor<float>::of({{1, 2}, {3, 4}, {5, 6}}), {.name = "table"});
  const auto named = placeholder<int>({unknown}, "named");
  const auto train =
      tr::accumulate{tr::gradient_descent{{.learning_rate = 1}}, 2}.minimize(reduce_sum(gather(table, named)));
  session sess;
  sess.run(global_variables_initializer());
  sess.run({{named, {0, 2}}}, train);
  sess.run({{named, {2}}}, train);
  CHECK(to_string(sess.run(table)) == "[[0.5, 1.5], [3, 4], [4, 5]]");
  sess.run({{named, {1}}}, train);
  sess.run({{named, {1}}}, train);
  CHECK(to_string(sess.run(table)) == "[[0.5, 1.5], [2, 3], [4, 5]]");
}

TEST_CASE("a gradient that is no number does not outlive its update") {
  own_graph f;
  auto w = variable(1.f, {.name = "w"});
  const auto x = placeholder<float>({}, "x");
  const auto train = tr::accumulate{tr::gradient_descent{{.learning_rate = 1}}, 2}.minimize(w * x);
  session sess;
  sess.run(global_variables_initializer());
  sess.run({{x, std::numeric_limits<float>::infinity()}}, train);
  sess.run({{x, 0.f}}, train);
  CHECK(float(sess.run(w)) == -std::numeric_limits<float>::infinity());
  CHECK(float(sess.run(tr::handle_of<float>(f.g, f.g.id_of("w/Accumulated")))) == 0);
}

TEST_CASE("a training that restarts within an update goes on bit for bit") {
  temporary_folder dir;
  const auto after = [&](bool restarts) {
    fed_model m;
    const auto train = tr::accumulate{tr::adamw{{.learning_rate = .1}}, 3}.minimize(m.loss, {.global_step = m.step});
    const auto init = global_variables_initializer();
    tr::saver saver;
    auto sess = std::make_unique<session>();
    sess->run(init);
    for (int i = 0; i < 9; ++i) {
      sess->run({{m.x, micro_batch(i, i + 2)}}, train);
      if (!restarts || i != 4) continue;
      const auto prefix = saver.save(*sess, dir.path("model"), m.step);
      sess = std::make_unique<session>();
      saver.restore(*sess, prefix);
    }
    CHECK(std::int64_t(sess->run(m.step)) == 3);
    return sess->run(m.w);
  };
  CHECK(after(true) == after(false));
}

TEST_CASE("accumulation over no steps is refused") {
  CHECK(failure([] {
          tr::accumulate{tr::adam{{}}, 0};
        }) == "invalid_argument: accumulate over 0 steps; an update takes the gradients of at least 1");
}
