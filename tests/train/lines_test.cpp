// Where the nodes of training say they were made: at the line of the user's call, whatever the library calls on the
// way. tests/structure asks for a row of every function that takes the line of its caller.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <support/node_lines.hpp>

namespace {

using namespace pinion;
namespace tr = pinion::train;

struct line_fixture : lined_graph {
  expr<float> x = placeholder<float>({4, 3}, "x"), y = placeholder<float>({4, 3}, "y"),
              image = placeholder<float>({2, 8, 8, 3}, "image");
  expr<double> d = placeholder<double>({4, 3}, "d");
  expr<int> numbers = placeholder<int>({4}, "numbers"), index = placeholder<int>({}, "index");
  expr<bool> flag = placeholder<bool>({}, "flag"), truth = placeholder<bool>({4, 3}, "truth");
  variable_handle<float> w = variable(tensor<float>({3, 2}), {.name = "w"});
  variable_handle<std::int64_t> step = tr::get_or_create_global_step();
  fifo_queue<float, int> q{{.capacity = 10, .shapes = {{}, {}}}};

  expr<float> loss() { return reduce_mean(square(matmul(x, w))); }
};

}  // namespace

TEST_CASE_METHOD(line_fixture, "the nodes of a loss stand where the loss is written") {
  here([&] { (void)tr::mean_squared_error(y, x); });
  here([&] { (void)tr::mean_squared_error(y, x, {.weights = d, .reduction = tr::reduction::mean}); });
  here([&] { (void)tr::absolute_difference(y, x, {.reduction = tr::reduction::none}); });
  here([&] { (void)tr::hinge_loss(y, x, {.reduction = tr::reduction::sum_over_batch_size}); });
  here([&] { (void)tr::sigmoid_cross_entropy(y, x, {.reduction = tr::reduction::sum}); });
  here([&] { (void)tr::sigmoid_cross_entropy(y, x, {}, .1); });
  here([&] { (void)tr::log_loss(y, x); });
  here([&] { (void)tr::huber_loss(y, x, 2); });
  here([&] { (void)tr::softmax_cross_entropy(y, x, {}, .1); });
  here([&] { (void)tr::sparse_softmax_cross_entropy(numbers, x); });
  here([&] { (void)tr::cosine_distance(y, x, {.axis = 1}); });
  here([&] { (void)tr::contrastive_loss(numbers, y, x, {.margin = .5}); });
  here([&] { (void)tr::info_nce(y, x); });
  here([&] { (void)tr::info_nce(y, x, {.temperature = reduce_sum(d)}); });
  here([&] { (void)tr::compute_weighted_loss(x); });
  here([&] { (void)tr::l2_regularizer{.01}(w); });
  here([&] { (void)tr::get_total_loss(); });
}

TEST_CASE_METHOD(line_fixture, "the nodes of a metric stand where the metric is written") {
  here([&] { (void)tr::mean(x, {.weights = d}); });
  here([&] { (void)tr::accuracy(y, x); });
  here([&] { (void)tr::auc(truth, x); });
  here([&] { (void)local_variables_initializer(); });
  here([&] { (void)global_variables_initializer(); });
}

TEST_CASE_METHOD(line_fixture, "the nodes that clip stand where clipping is written") {
  here([&] { (void)tr::clip_by_value(x, 0, 1); });
  here([&] { (void)tr::clip_by_norm(x, 1); });
  here([&] { (void)tr::global_norm(std::vector{x, y}); });
  here([&] { (void)tr::clip_by_global_norm(std::vector{x, y}, 1); });
  const auto gradients = tr::adam{{}}.compute_gradients(loss());
  here([&] { (void)tr::clip_by_value(gradients, 0, 1); });
  here([&] { (void)tr::clip_by_norm(gradients, 1); });
  here([&] { (void)tr::global_norm(gradients); });
  here([&] { (void)tr::clip_by_global_norm(gradients, 1); });
}

TEST_CASE_METHOD(line_fixture,
                 "updates and slots stand where minimize is written, gradients where their forward nodes do") {
  const auto l = loss();
  here([&] { (void)gradients(l, x); });
  here([&] { (void)tr::gradient_descent{{.learning_rate = .1}}.minimize(l, {.global_step = step}); });
  here([&] { (void)tr::momentum{{.learning_rate = .1}}.minimize(l); });
  here([&] { (void)tr::adagrad{{.learning_rate = .1}}.minimize(l); });
  here([&] { (void)tr::rmsprop{{.learning_rate = .1}}.minimize(l); });
  here([&] { (void)tr::adam{{.learning_rate = .1}}.minimize(l); });
  here([&] { (void)tr::adam{{.learning_rate = tr::exponential_decay(.1, step)}}.minimize(l); });
  here([&] { (void)tr::adamw{{.learning_rate = .1}}.minimize(l); });
  here([&] { (void)tr::adamw{{.learning_rate = tr::exponential_decay(.1, step)}}.minimize(l); });
  here([&] { (void)tr::lion{{.learning_rate = .1}}.minimize(l); });
  here([&] { (void)tr::lamb{{.learning_rate = .1}}.minimize(l); });
  here([&] { (void)tr::adafactor{{.learning_rate = .1, .beta1 = .5}}.minimize(l); });
  here([&] { (void)tr::muon{{.learning_rate = .1}}.minimize(l); });
  here([&] { (void)tr::accumulate{tr::adam{{}}, 2}.minimize(l, {.global_step = step}); });
  here([&] { (void)tr::mixed_precision{tr::adam{{}}, {.compute = dtype::half}}.minimize(l, {.global_step = step}); });
  here([&] { (void)tr::weight_averages{.num_updates = step}.apply(no_op()); });
  here([&] { (void)tr::momentum{{}}.apply_gradients(tr::momentum{{}}.compute_gradients(l)); });
  here([&] { (void)tr::adam{{}}.minimize(reduce_sum(nn::embedding(numbers, 10, 4))); });
}

TEST_CASE_METHOD(line_fixture, "schedules, summaries and the global step stand where they are written") {
  here([&] { (void)tr::exponential_decay(.1, step); });
  here([&] { (void)tr::natural_exp_decay(.1, step); });
  here([&] { (void)tr::inverse_time_decay(.1, step); });
  here([&] { (void)tr::polynomial_decay(.1, step); });
  here([&] { (void)tr::cosine_decay(.1, step); });
  here([&] { (void)tr::linear_warmup(tr::cosine_decay(.1, step), step); });
  here([&] { (void)tr::piecewise_constant(step, {10}, {.1, .01}); });
  here([&] { (void)tr::summary::scalar("s", reduce_sum(x)); });
  here([&] { (void)tr::summary::histogram("h", x); });
  here([&] { (void)tr::summary::histogram_of_counts("c", numbers); });
  here([&] { (void)tr::summary::image("i", image); });
  here([&] { (void)tr::summary::text("t", constant(std::string("text"))); });
  here([&] { (void)tr::summary::merge({tr::summary::scalar("m", reduce_sum(x))}); });
  here([&] { (void)tr::summary::merge_all(); });
}

TEST_CASE_METHOD(line_fixture, "what replicas train by stands where minimize is written") {
  const auto l = loss();
  tr::sync_replicas sync{tr::momentum{{}}, {.replicas_to_aggregate = 2}};
  here([&] { (void)sync.minimize(l, {.global_step = step}); });
  here([&] { (void)sync.summaries(); });
  tr::ssp ssp{tr::momentum{{}}, {.total_num_replicas = 2}};
  here([&] { (void)ssp.minimize(l, {.global_step = step}); });
  here([&] { (void)ssp.summaries(); });
}

TEST_CASE_METHOD(line_fixture, "what is done with queues stands where it is written") {
  here([&] { (void)q.enqueue(1, 2); });
  here([&] { (void)q.enqueue_many(tensor<float>({2}), numbers); });
  here([&] { (void)q.dequeue(); });
  here([&] { (void)q.dequeue_many(2); });
  here([&] { (void)q.dequeue_up_to(2); });
  here([&] { (void)q.size(); });
  here([&] { (void)q.is_closed(); });
  here([&] { (void)q.close(); });
  here([&] { (void)tr::queue_runner(q, {no_op()}); });
  here([&] { (void)fifo_queue<int>({}); });
  here([&] { (void)queue_from_list(index, {q, q}); });
  const auto one = queue_from_list(index, {q, q});
  here([&] { (void)one.enqueue(1, 2); });
  here([&] { (void)one.enqueue_many(tensor<float>({2}), numbers); });
  here([&] { (void)one.dequeue(); });
  here([&] { (void)one.dequeue_many(2); });
  here([&] { (void)one.dequeue_up_to(2); });
  here([&] { (void)one.size(); });
  here([&] { (void)one.is_closed(); });
  here([&] { (void)one.close(); });
}

TEST_CASE_METHOD(line_fixture, "replicas stand where they are written, and so do their guards") {
  here([&] { (void)tr::replicate({"/cpu:0", "/cpu:1"}, {}, [&](int) { return identity(x); }); });
}

TEST_CASE_METHOD(line_fixture, "what a monitored session makes stands where the session does") {
  tr::summary::scalar("loss", loss());
  const node_id first = g.size();
  const unsigned line = __LINE__ + 1;
  { tr::monitored_training_session sess{{}}; }
  CHECK(elsewhere(g, first, {__FILE__, line}) == "");
  here([&] { (void)tr::chief_sign::of_default_graph(); });
  here([&] { tr::scaffold{}.finalize(); });
}

TEST_CASE_METHOD(line_fixture, "the line of the outermost call holds, and ends with it") {
  const source_location outer{"model.cpp", 7}, inner{"layer.cpp", 9};
  const auto line_of = [](const auto& made) { return to_string(made.node().where); };
  const auto layer = [&](source_location where) {
    const called_from here(where);
    return exp(x, {}, {"library.hpp", 1});
  };
  {
    const called_from here(outer);
    CHECK(line_of(layer(inner)) == "model.cpp:7");
    graph other;
    const auto into = other.as_default();
    CHECK(line_of(constant(1)) == "model.cpp:7");
  }
  CHECK(line_of(layer(inner)) == "layer.cpp:9");
  CHECK(line_of(layer({})) == "library.hpp:1");
}
