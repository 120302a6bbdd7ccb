// Layers that train: batch normalisation, dropout, convolution, embeddings, and how their weights begin.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <cmath>

#include <support/caught.hpp>
#include <support/own_session.hpp>
#include <support/tensor_text.hpp>

namespace {

using namespace pinion;
namespace tr = pinion::train;

struct moments {
  double mean = 0, variance = 0;
};
moments of(const tensor<double>& x) {
  moments m;
  const double n = static_cast<double>(x.span().size());
  for (double v : x.span()) m.mean += v / n;
  for (double v : x.span()) m.variance += (v - m.mean) * (v - m.mean) / n;
  return m;
}

}  // namespace

// ---- batch normalisation

TEST_CASE_METHOD(own_session, "batch_norm has mean 0 and variance 1 by channel in training, and gradients of it") {
  const expr<double> x = constant<double>({{1, 10}, {2, 30}, {6, -10}}, "x");
  const auto y = nn::batch_norm(x, {.training = true, .epsilon = 0});
  const auto [slope] = gradients(reduce_sum(y * x), x);
  sess.run(global_variables_initializer());
  const auto v = sess.run(y);
  const double root = std::sqrt(14. / 3);
  CHECK(v(0, 0) == Approx(-2 / root));
  CHECK(v(2, 0) == Approx(3 / root));
  CHECK(v(0, 1) == Approx(0).margin(1e-12));
  // sum y x = n sigma of each channel, so its slope is y.
  const auto s = sess.run(slope);
  for (std::size_t i = 0; i < 6; ++i) CHECK(s.span()[i] == Approx(v.span()[i]).margin(1e-9));
}

TEST_CASE_METHOD(own_session, "the moving averages follow when the update operations run, and serve prediction") {
  const auto x = placeholder<double>({unknown, 2, 1}, "x");
  const auto training = placeholder<bool>({}, "training");
  const auto y = nn::batch_norm(x, {.training = training, .momentum = .5, .epsilon = 0, .name = "bn"});
  const auto updates = nn::update_ops();
  const auto mean = tr::handle_of<double>(g, g.id_of("bn/moving_mean")),
             variance = tr::handle_of<double>(g, g.id_of("bn/moving_variance"));
  CHECK(g.collection("update_ops").size() == 2);
  CHECK(g.collection("trainable_variables").size() == 2);
  sess.run(global_variables_initializer());
  sess.run({{x, {{{1}, {3}}}}, {training, true}}, y);
  CHECK(sess.run(mean)(0) == 0);
  sess.run({{x, {{{1}, {3}}}}, {training, true}}, updates);
  CHECK(sess.run(mean)(0) == 1);
  CHECK(sess.run(variance)(0) == 1);
  sess.run({{x, {{{7}, {3}}}}, {training, true}}, updates);
  CHECK(sess.run(mean)(0) == 3);
  CHECK(sess.run(variance)(0) == 2.5);
  sess.run({{x, {{{100}, {300}}}}, {training, false}}, updates);
  CHECK(sess.run(mean)(0) == 3);
  CHECK(sess.run({{x, {{{3}, {4}}}}, {training, false}}, y)(0, 1, 0) == Approx(1 / std::sqrt(2.5)));
}

TEST_CASE_METHOD(own_session, "minimize runs the updates of its own loss, unless it is told not to") {
  const auto x = placeholder<double>({unknown, 1}, "x"), other = placeholder<double>({unknown, 1}, "other");
  const auto layer = [](const auto& of, const char* name) {
    return nn::batch_norm(of, {.training = true, .momentum = .5, .name = name});
  };
  const auto loss = reduce_sum(square(layer(x, "mine") - 1.)), far = reduce_sum(layer(other, "other_one"));
  const tr::gradient_descent rule{{.learning_rate = .1}};
  const auto still = rule.minimize(loss, {.run_updates = false}), train = rule.minimize(loss);
  const auto mean = [&](const char* name) { return sess.run(tr::handle_of<double>(g, g.id_of(name)))(0); };
  sess.run(global_variables_initializer());
  sess.run({{x, {{2}, {4}}}}, still);
  CHECK(mean("mine/moving_mean") == 0);
  sess.run({{x, {{2}, {4}}}}, train);  // the placeholder of the other loss is not needed
  CHECK(mean("mine/moving_mean") == 1.5);
  CHECK(mean("other_one/moving_mean") == 0);
  sess.run({{other, {{2}, {4}}}}, rule.minimize(far));
  CHECK(mean("other_one/moving_mean") == 1.5);
}

TEST_CASE_METHOD(own_session, "a batch of no rows leaves batch_norm's averages and weights as they are") {
  const auto x = placeholder<float>({unknown, 2}, "x");
  const auto y = nn::batch_norm(x, {.training = true, .momentum = .5, .name = "bn"});
  const auto train = tr::gradient_descent{{.learning_rate = .1}}.minimize(reduce_sum(square(y)));
  sess.run(global_variables_initializer());
  sess.run({{x, {{1, 2}, {3, 6}}}}, train);
  const std::vector<const char*> names{"bn/moving_mean", "bn/moving_variance", "bn/gamma", "bn/beta"};
  const auto all = [&] {
    std::vector<tensor<float>> values;
    for (const char* name : names) values.push_back(sess.run(tr::handle_of<float>(g, g.id_of(name))));
    return values;
  };
  const auto before = all();
  sess.run({{x, tensor<float>(shape{0, 2})}}, train);
  const auto after = all();
  for (std::size_t i = 0; i < names.size(); ++i) {
    INFO(names[i]);
    CHECK(after[i] == before[i]);
  }
}

TEST_CASE_METHOD(own_session,
                 "batch_norm that only predicts updates nothing; one without scale and center has no weights") {
  const auto x = placeholder<float>({unknown, 3}, "x");
  nn::batch_norm(x, {.center = false, .scale = false});
  CHECK(g.collection("update_ops").empty());
  CHECK(g.collection("trainable_variables").empty());
  CHECK(g.collection("variables").size() == 2);
  const auto open = placeholder<float>({unknown, unknown}, "open");
  CHECK(failure([&] { nn::batch_norm(open); }) ==
        "invalid_argument: batch_norm of 'open' of shape [?, ?]: it takes [n, .., channels] of a known number of "
        "channels");
}

TEST_CASE_METHOD(own_session,
                 "a network with batch_norm and dropout trains, its averages with it, by a flag that is fed") {
  const expr<float> x = constant<float>({{0, 0}, {0, 1}, {1, 0}, {1, 1}}), t = constant<float>({{0}, {1}, {1}, {0}});
  const auto training = placeholder<bool>({}, "training");
  const auto h = nn::dense(x, 16, {.seed = 3});
  const auto n = nn::dropout(tanh(nn::batch_norm(h, {.training = training, .momentum = .9})),
                             {.rate = .1, .training = training, .seed = 4});
  const auto y = nn::dense(n, 1, {.seed = 5, .name = "out"});
  const auto loss = tr::sigmoid_cross_entropy(t, y);
  const auto train = tr::adam{{.learning_rate = .05}}.minimize(loss);
  sess.run(global_variables_initializer());
  for (int step = 0; step < 200; ++step) sess.run({{training, true}}, train);
  CHECK(float(sess.run({{training, false}}, loss)) < .1f);
}

// ---- dropout

TEST_CASE_METHOD(own_session, "dropout drops in training alone") {
  const expr<float> x = ones<float>({1000});
  const auto training = placeholder<bool>({}, "training");
  const auto y = nn::dropout(x, {.rate = .25, .training = training, .seed = 1});
  CHECK(sess.run({{training, false}}, y) == sess.run(x));
  const auto dropped = sess.run({{training, true}}, y);
  const auto zeros = std::count(dropped.span().begin(), dropped.span().end(), 0.f);
  CHECK(zeros > 180);
  CHECK(zeros < 320);
  const auto before = g.size();
  CHECK(sess.run(nn::dropout(x)) == sess.run(x));
  CHECK(g.size() == before);
  CHECK(float(sess.run(reduce_min(nn::dropout(x, {.training = true, .seed = 1})))) == 0);
}

// ---- convolution

TEST_CASE_METHOD(own_session, "a conv2d layer is the convolution by its kernel, with bias and activation") {
  const auto x = placeholder<float>({unknown, 3, 3, 2}, "x");
  const auto y = nn::conv2d(
      x, 4, {2, 2}, nn::relu,
      {.kernel_initializer = nn::ones_initializer(), .bias_initializer = nn::constant_initializer(-3), .name = "c"});
  CHECK(y.shape() == shape{unknown, 2, 2, 4});
  CHECK(nn::conv2d(x, 4, {2, 2}, {.strides = {2, 2}, .padding = padding::same, .use_bias = false}).shape() ==
        shape{unknown, 2, 2, 4});
  sess.run(global_variables_initializer());
  tensor<float> image({1, 3, 3, 2});
  for (float& v : image.span()) v = 1;
  const tensor<float> result = sess.run({{x, image}}, y);
  for (float v : result.span()) CHECK(v == 5);
  CHECK(to_string(g.type_of({g.id_of("c/kernel"), 0}).shape) == "[2, 2, 2, 4]");
  const auto open = placeholder<float>({unknown, 3, 3, unknown}, "open");
  CHECK(failure([&] {
          nn::conv2d(open, 4, {2, 2});
        }) ==
        "invalid_argument: a conv2d layer of 4 filters of 2 x 2 on 'open' of shape [?, 3, 3, ?]: it takes images [n, "
        "h, w, channels] of a known number of channels");
}

// ---- embeddings

TEST_CASE_METHOD(own_session, "an embedding yields rows for numbers of any shape, and trains those alone") {
  const auto numbers = placeholder<std::int64_t>({2, 1}, "numbers");
  const auto e = nn::embedding(numbers, 4, 3, {.initializer = nn::ones_initializer(), .name = "words"});
  CHECK(e.shape() == shape{2, 1, 3});
  const auto train = tr::adagrad{{.learning_rate = .5}}.minimize(reduce_sum(e));
  CHECK(g.find("words/table/SparseApplyAdagrad") != std::nullopt);
  sess.run(global_variables_initializer());
  sess.run({{numbers, {{1}, {3}}}}, train);
  const auto table = sess.run(tr::handle_of<float>(g, g.id_of("words/table")));
  CHECK(table(0, 0) == 1);
  CHECK(table(1, 2) == Approx(1 - .5 / std::sqrt(1.1)));
  CHECK(failure([&] { nn::embedding(numbers, 0, 3); }) ==
        "invalid_argument: an embedding of 0 rows of 3; both are positive");
}

// ---- initialisers

TEST_CASE_METHOD(own_session, "initialisers have the variance that they promise, whatever the distribution") {
  const auto variance = [&](const nn::initializer& i, const shape& s = {100, 300}) {
    const auto m = of(sess.run(i.of<double>(s)));
    CHECK(std::abs(m.mean) < .01);
    return m.variance;
  };
  CHECK(variance(nn::glorot_uniform_initializer(1)) == Approx(1 / 200.).epsilon(.05));
  CHECK(variance(nn::glorot_normal_initializer(2)) == Approx(1 / 200.).epsilon(.05));
  CHECK(variance(nn::he_normal_initializer(3)) == Approx(2 / 100.).epsilon(.05));
  CHECK(variance(nn::he_uniform_initializer(4)) == Approx(2 / 100.).epsilon(.05));
  CHECK(variance(nn::variance_scaling_initializer(
            {.scale = 3, .mode = nn::fan::out, .distribution = nn::distribution::normal, .seed = 5})) ==
        Approx(3 / 300.).epsilon(.05));
  CHECK(variance(nn::he_normal_initializer(6), {5, 5, 10, 100}) == Approx(2 / 250.).epsilon(.05));
}

TEST_CASE_METHOD(own_session, "a uniform initialiser keeps its limit, a constant one its value") {
  const tensor<double> drawn = sess.run(nn::glorot_uniform_initializer(1).of<double>({40, 20}));
  for (double v : drawn.span()) CHECK(std::abs(v) <= std::sqrt(.1));
  CHECK(sess.run(nn::constant_initializer(.5).of<float>({2})) == tensor<float>::of({.5, .5}));
  CHECK(failure([] { nn::variance_scaling_initializer({.scale = 0}); }) ==
        "invalid_argument: an initializer of scale 0; it must be positive");
  CHECK(failure([] {
          nn::zeros_initializer().of<float>({unknown, 2});
        }) == "invalid_argument: weights of shape [?, 2]: the shape must be known");
}
