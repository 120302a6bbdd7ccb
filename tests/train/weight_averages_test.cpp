// Moving averages of weights.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>
#include <support/ends.hpp>
#include <support/own_graph.hpp>
#include <support/temporary_folder.hpp>
#include <support/tensor_text.hpp>

namespace {

using namespace pinion;
namespace tr = pinion::train;

struct averaged_model : own_graph {
  variable_handle<std::int64_t> step = tr::get_or_create_global_step();
  variable_handle<double> w = variable(tensor<double>::of({1, -2}), {.name = "w"});
  variable_handle<float> b = variable(tensor<float>::of({4}), {.name = "b"});
  expr<double> loss = reduce_sum(square(w)) + reduce_sum(square(cast<double>(b)));
  operation train = tr::gradient_descent{{.learning_rate = .125}}.minimize(loss, {.global_step = step});
};

}  // namespace

TEST_CASE("averages follow their variables, from where these begin") {
  averaged_model m;
  const tr::weight_averages averages{.decay = .75};
  const auto train = averages.apply(m.train);
  session sess;
  sess.run(global_variables_initializer());
  double w = 1, average = 1;
  for (int t = 0; t < 10; ++t) {
    sess.run(train);
    w -= .25 * w;
    average -= .25 * (average - w);
  }
  CHECK(sess.run(m.w)(0) == Approx(w).epsilon(1e-12));
  CHECK(sess.run(averages.average(m.w))(0) == Approx(average).epsilon(1e-12));
  CHECK(sess.run(averages.average(m.b))(0) == Approx(4 * average).epsilon(1e-6));
  CHECK(averages.average(m.w).name() == "w/ExponentialMovingAverage");
  CHECK(averages.average_name(m.w) == "w/ExponentialMovingAverage");
  CHECK(m.g.collection("trainable_variables").size() == 2);
}

TEST_CASE("with the number of steps, early averages forget faster") {
  averaged_model m;
  const tr::weight_averages averages{.decay = .5, .num_updates = m.step, .name = "slow"};
  const auto train = averages.apply(m.train, {m.w, m.b});
  session sess;
  sess.run(global_variables_initializer());
  double w = 1, average = 1;
  for (int t = 1; t <= 20; ++t) {
    sess.run(train);
    w -= .25 * w;
    const double decay = std::min(.5, (1. + t) / (10. + t));  // the step is counted before the averages move
    average -= (1 - decay) * (average - w);
  }
  CHECK(sess.run(averages.average(m.w))(0) == Approx(average).epsilon(1e-12));
  CHECK(sess.run(averages.average(m.b))(0) == Approx(4 * average).epsilon(1e-6));
  CHECK(averages.average(m.w).name() == "w/slow");
}

TEST_CASE("an evaluator reads averages where training has variables") {
  temporary_folder dir;
  tensor<double> average;
  {
    averaged_model m;
    const tr::weight_averages averages{.decay = .75};
    const auto train = averages.apply(m.train);
    session sess;
    sess.run(global_variables_initializer());
    for (int t = 0; t < 3; ++t) sess.run(train);
    average = sess.run(averages.average(m.w));
    tr::saver{}.save(sess, dir.path("model"), m.step);
    tr::saver{{.names = averages.variables_to_restore()}}.restore(sess, dir.path("model-3"));
    CHECK(sess.run(m.w) == average);
  }
  averaged_model m;
  session sess;
  tr::saver{{.names = tr::weight_averages{}.variables_to_restore()}}.restore(sess, dir.path("model-3"));
  CHECK(sess.run(m.w) == average);
  CHECK(std::int64_t(sess.run(m.step)) == 3);
}

TEST_CASE("averages of a variable in parts are one tensor in a checkpoint") {
  temporary_folder dir;
  own_graph f;
  const partitioned_variable whole(tensor<float>::of({{1, 2}, {3, 4}, {5, 6}}),
                                   {.name = "table", .partition = fixed_size_partitioner{2}});
  const tr::weight_averages averages{};
  const auto up = tr::gradient_descent{{.learning_rate = .5}}.minimize(reduce_sum(square(whole.read())));
  const auto train = averages.apply(up);
  session sess;
  sess.run(global_variables_initializer());
  sess.run(train);
  tr::saver{}.save(sess, dir.path("model"));
  tr::saver{{.names = averages.variables_to_restore()}}.restore(sess, dir.path("model"));
  CHECK(sess.run(whole.read())(2, 1) == Approx(6 * .999f));
}

TEST_CASE("averages stand with their variables, and slots of an optimizer are none") {
  graph g;
  const auto use = g.as_default();
  auto w = [] {
    const device on{"/gpu:0"};
    return variable(tensor<float>::of({1, 2}), {.name = "w"});
  }();
  const tr::weight_averages averages{};
  const auto train = averages.apply(tr::adam{{}}.minimize(reduce_sum(square(w))));
  session sess{{.simulated = {sim::gpu()}}};
  const auto p = sess.plan(train, global_variables_initializer());
  CHECK(p.device_of("w/ExponentialMovingAverage") == p.device_of("w"));
  CHECK(p.device_of("w/ExponentialMovingAverage/ApplyMovingAverage") == p.device_of("w"));
  CHECK(averages.variables_to_restore().size() == 5);  // w, two moments and two powers
}

TEST_CASE("averages that cannot be are refused") {
  averaged_model m;
  auto whole = variable(1, {.name = "whole"});
  const tr::weight_averages averages{};
  CHECK(failure([&] { averages.average(m.w); }) ==
        "not_found: weight_averages keeps no average of 'w'; apply() makes those of the variables that it is given, or "
        "of all trained ones");
  CHECK(failure([&] { tr::weight_averages{.decay = 1}.apply(m.train); }) ==
        "invalid_argument: the decay of weight_averages is 1; it must be in [0, 1)");
  CHECK(failure([&] { averages.apply(m.train, {whole}); }) ==
        "invalid_argument: variable 'whole' is a int32 of shape []; an average is of a floating-point one, of "
        "known shape");
}
