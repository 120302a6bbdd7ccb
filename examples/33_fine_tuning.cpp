// Fine-tuning: weights that were published in half precision begin a model of float, which learns from few examples.
//
//   [784] ── dense 128 ── dense 64 ─┬─ dense 10    which digit it is: trained on 4000, and its two layers are published
//                                   └─ dense 2     even or odd: trained on 50, behind the published layers
//
#include <pinion/files/safetensors.hpp>
#include <pinion/train.hpp>

#include "support/some_digits.hpp"

#include <filesystem>
#include <map>

namespace pn = pinion;
namespace nn = pinion::nn;
namespace tr = pinion::train;

struct model {
  std::int64_t classes;
  pn::expr<float> X = pn::placeholder<float>({pn::unknown, 784});
  pn::expr<int> y = pn::placeholder<int>({pn::unknown});
  pn::expr<float> first = nn::dense(X, 128, pn::relu, {.seed = 1, .name = "body/first"});
  pn::expr<float> second = nn::dense(first, 64, pn::relu, {.seed = 2, .name = "body/second"});
  pn::expr<float> logits = nn::dense(second, classes, {.seed = 3, .name = "head"});
  tr::saver body{{.variables = pn::global_variables("body")}};
  pn::session sess{};

  // Trains the head behind published layers, or all layers.
  void train(const mnist::task& t, const std::string& published) {
    const auto loss = pn::reduce_mean(pn::sparse_softmax_cross_entropy_with_logits(y, logits));
    const auto trained = pn::trainable_variables(published.empty() ? "" : "head");
    const auto step = tr::adam{{.learning_rate = .002}}.minimize(loss, {.variables = trained});
    sess.run(pn::global_variables_initializer());
    if (!published.empty()) body.restore(sess, published, {.convert = true});
    for (int i = 0; i < 200; ++i) sess.run({{X, t.images}, {y, t.classes}}, step);
  }
};

void publish(const std::string& path, const mnist::task& t) {
  pn::graph g;
  const auto use = g.as_default();
  model m{10};
  m.train(t, {});
  std::map<std::string, pn::any_tensor> weights = m.body.take(m.sess);
  for (auto& [name, value] : weights) value = pn::converted(value, pn::dtype::half);
  pn::files::write_safetensors(path + ".safetensors", weights);
}

// The part of other digits that it tells rightly after it has seen a few.
float tune(const std::string& published, const mnist::task& few, const mnist::task& others) {
  pn::graph g;
  const auto use = g.as_default();
  model m{2};
  m.train(few, published);
  const auto right = pn::reduce_mean(pn::cast<float>(pn::in_top_k(m.logits, m.y, 1)));
  return m.sess.run({{m.X, others.images}, {m.y, others.classes}}, right);
}

int main() try {
  const mnist::dataset digits = mnist::synthesise(10000, 4000, 1);
  const std::string path = (std::filesystem::temp_directory_path() / "pinion_published").string();
  publish(path, some(digits.train, 4000, 10));
  const auto few = some(digits.train, 50, 2), others = some(digits.test, 2000, 2);
  fmt::print("accuracy {:.3f} from 50 digits alone, {:.3f} behind published layers\n", tune({}, few, others),
             tune(path, few, others));
} catch (const pn::error& e) {
  fmt::print(stderr, "fine_tuning: {}\n", e.what());
  return 1;
}
