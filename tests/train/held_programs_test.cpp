// The programs of training run compiled, as plans tell; but for the formulas of rates, which are one number a step.
#include <catch2/catch.hpp>

#include <pinion/session.hpp>

#include "train/reference.hpp"

using namespace pinion_tests;

namespace {

// The nodes of a plan that are interpreted, without those that compute a single number.
std::string interpreted_in(const plan& p) {
  std::string names;
  for (const placed_node& n : p.nodes())
    if (n.interpreted && n.bytes_out != 8) names += n.name + " (" + n.op + ") ";
  return names;
}

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
void check_optimizers() {
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

}  // namespace

TEST_CASE("layers, activations and losses are trained by compiled programs") {
  check_layers<float>();
  check_layers<double>();
}

TEST_CASE("every optimizer works by compiled programs, also with a schedule") {
  check_optimizers<float>();
  check_optimizers<double>();
}
