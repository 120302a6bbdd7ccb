// The programs of training run compiled, as plans tell.
#include <catch2/catch.hpp>

#include <pinion/session.hpp>

#include "support/interpreted.hpp"
#include "train/reference.hpp"

using namespace pinion_tests;

namespace {

template <class T>
struct network : own_graph {
  expr<T> images = placeholder<T>({8, 6, 6, 1}, "images"), labels = placeholder<T>({8, 3}, "labels");

  // The logits behind layers of each kind.
  expr<T> logits(const std::function<expr<T>(const expr<T>&)>& activation) {
    const auto y = nn::conv2d(images, 4, {3, 3}, activation, {.name = "conv"});
    const auto h = nn::dense(reshape(y, {8, -1}), 10, activation, {.name = "hidden"});
    const auto normal = nn::batch_norm(h, {.training = true, .name = "normal"});
    return nn::dense(dropout(normal, {.rate = .5, .seed = 1}), 3, {.name = "logits"});
  }
};

template <class T>
std::vector<expr<T>> losses(const expr<T>& labels, const expr<T>& logits) {
  return {tr::softmax_cross_entropy(labels, logits),
          tr::sigmoid_cross_entropy(labels, logits),
          tr::sigmoid_cross_entropy(labels, logits, {}, .1),
          tr::cosine_distance(labels, logits),
          tr::contrastive_loss(reduce_max(labels, 1), labels, logits),
          tr::info_nce(labels, logits),
          tr::mean_squared_error(labels, logits),
          tr::absolute_difference(labels, logits),
          tr::hinge_loss(labels, logits),
          tr::huber_loss(labels, logits),
          tr::log_loss(labels, softmax(logits))};
}

template <class T>
void check_layers() {
  using function = std::function<expr<T>(const expr<T>&)>;
  const std::vector<std::pair<std::string, function>> activations{
      {"relu", [](const expr<T>& x) { return expr<T>(relu(x)); }},
      {"elu", [](const expr<T>& x) { return expr<T>(elu(x)); }},
      {"tanh", [](const expr<T>& x) { return expr<T>(tanh(x)); }},
      {"sigmoid", [](const expr<T>& x) { return expr<T>(sigmoid(x)); }},
      {"softplus", [](const expr<T>& x) { return expr<T>(softplus(x)); }}};
  for (const auto& [name, activation] : activations) {
    INFO(name);
    network<T> n;
    const auto logits = n.logits(activation);
    for (const auto& loss : losses<T>(n.labels, logits))
      CHECK(interpreted_in(session().plan(tr::gradient_descent{{.learning_rate = .1}}.minimize(loss))) == "");
  }
}

template <class T>
void check_held_optimizers() {
  for (const subject& s : subjects())
    for (const bool scheduled : {false, true}) {
      network<T> n;
      const auto step = tr::get_or_create_global_step();
      const auto loss = reduce_mean(square(nn::dense(n.labels, 2, {.name = "dense"})));
      const auto rate = scheduled ? tr::scalar_value(tr::exponential_decay(.1, step)) : tr::scalar_value(.1);
      INFO(s.name << (scheduled ? ", scheduled" : ""));
      CHECK(interpreted_in(session().plan(s.minimize(loss, rate, step))) == "");
    }
}

// Rates that change with the step, from a number or from another rate.
std::vector<expr<double>> schedules(const tr::scalar_value& rate, const expr<std::int64_t>& step) {
  std::vector<expr<double>> all{tr::cosine_decay(rate, step), tr::linear_warmup(rate, step)};
  for (const bool staircase : {false, true}) {
    const tr::decay_options o{.staircase = staircase};
    for (const auto decay : {tr::exponential_decay, tr::natural_exp_decay, tr::inverse_time_decay})
      all.push_back(decay(rate, step, o, {}));
    all.push_back(tr::polynomial_decay(rate, step, {.cycle = staircase}));
  }
  for (const std::int64_t boundaries : {0, 1, 4, 5, 20, 21, 60}) {
    std::vector<std::int64_t> steps;
    for (std::int64_t i = 0; i < boundaries; ++i) steps.push_back(i);
    all.push_back(tr::piecewise_constant(step, steps, std::vector<double>(steps.size() + 1)));
  }
  return all;
}

}  // namespace

TEST_CASE("layers, activations and losses are trained by compiled programs") {
  check_layers<float>();
  check_layers<double>();
}

TEST_CASE("every optimizer works by compiled programs, also with a schedule") {
  check_held_optimizers<float>();
  check_held_optimizers<double>();
}

TEST_CASE("every schedule is computed by a compiled program") {
  own_graph own;
  const expr<std::int64_t> step = tr::get_or_create_global_step();
  const auto outer = placeholder<double>({}, "outer");
  for (const auto& rate : {tr::scalar_value(.1), tr::scalar_value(outer)})
    for (const auto& schedule : schedules(rate, step)) {
      INFO(schedule.name());
      CHECK(interpreted_in(session().plan(schedule)) == "");
    }
}

TEST_CASE("clipped gradients come from compiled programs") {
  using gradients = std::vector<tr::gradient_of_variable>;
  const std::vector<std::function<gradients(const gradients&)>> clips{
      [](const gradients& g) { return tr::clip_by_value(g, -1, 1); },
      [](const gradients& g) { return tr::clip_by_norm(g, 5); },
      [](const gradients& g) { return tr::clip_by_global_norm(g, 5).gradients; }};
  for (const auto& clip : clips) {
    network<float> n;
    const tr::momentum o{{.learning_rate = .1, .momentum = .9}};
    const auto loss = reduce_mean(square(nn::dense(n.labels, 2, {.name = "dense"})));
    CHECK(interpreted_in(session().plan(o.apply_gradients(clip(o.compute_gradients(loss))))) == "");
  }
}

TEST_CASE("metrics are counted by compiled programs") {
  own_graph own;
  const auto x = placeholder<float>({unknown}, "x"), weights = placeholder<float>({unknown}, "weights");
  const auto label = placeholder<std::int64_t>({unknown}, "label"),
             found = placeholder<std::int64_t>({unknown}, "found");
  const auto positive = placeholder<bool>({unknown}, "positive");
  for (const tr::metric& m :
       {tr::mean(x), tr::mean(label), tr::mean(x, {.weights = weights}), tr::accuracy(label, found),
        tr::accuracy(label, found, {.weights = weights}), tr::auc(positive, x)}) {
    INFO(m.value.name());
    CHECK(interpreted_in(session().plan(m.value, m.update)) == "");
  }
}

namespace {

// The interpreted nodes of an update by a gradient that is fed, and of averages behind it.
template <class T, class Optimizer>
std::string interpreted_in_update(const Optimizer& o, const shape& extent) {
  own_graph f;
  const auto step = tr::get_or_create_global_step();
  const auto w = variable(tensor<T>(extent), {.name = "w"});
  const auto gradient = placeholder<T>(extent, "gradient");
  const auto train = o.apply_gradients({{{end_of(gradient), {}, {}}, id_of(w)}}, {.global_step = step});
  const auto averages = tr::weight_averages{.num_updates = step}.apply(train);
  return interpreted_in(session().plan(tr::weight_averages{.decay = .9}.apply(averages)));
}

template <class Optimizer>
void check_updates(const Optimizer& o) {
  for (const shape& extent : {shape{8, 4}, shape{4, 8}, shape{6}}) {
    INFO(to_string(extent));
    CHECK(interpreted_in_update<float>(o, extent) == "");
    CHECK(interpreted_in_update<double>(o, extent) == "");
  }
}

}  // namespace

TEST_CASE("optimizers of whole variables, micro-batches and averages run compiled") {
  check_updates(tr::lamb{{}});
  check_updates(tr::adafactor{{}});
  check_updates(tr::adafactor{{.relative_step = false, .scale_parameter = false, .beta1 = .5}});
  check_updates(tr::muon{{}});
  check_updates(tr::muon{{.use_nesterov = false, .weight_decay = .1}});
  check_updates(tr::accumulate{tr::adamw{{}}, 4});
  check_updates(tr::mixed_precision{tr::adamw{{}}, {.compute = dtype::half}});
}
