// Optimizers that look at whole variables, against plain loops over doubles by the formulas of their papers.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <vector>

#include <support/caught.hpp>
#include <support/own_graph.hpp>
#include <support/tensor_text.hpp>

namespace {

using namespace pinion;
namespace tr = pinion::train;

using doubles = std::vector<double>;
// Changes w by the gradient g in step t = 1, 2, ...; it keeps its moments itself.
using plain_step = std::function<void(doubles& w, const doubles& g, int t)>;
enum class gradient_form { dense, sparse };

double first_weight(std::size_t i) {
  return .3 * static_cast<double>(i) - .5;
}
double wanted_weight(std::size_t i) {
  return 1 - .4 * static_cast<double>(i);
}
double weight_of_square(std::size_t i) {
  return .5 + .25 * static_cast<double>(i % 3);
}

template <class T>
tensor<T> filled_by(const shape& extent, double (*of)(std::size_t)) {
  tensor<T> t(extent);
  for (std::size_t i = 0; i < t.span().size(); ++i) t.span()[i] = static_cast<T>(of(i));
  return t;
}

// The sum of weight_of_square (w - wanted_weight)^2 over all elements, or of (w - 3)^2 over rows 0, 2 and 2.
template <class T>
struct weighted_squares : own_graph {
  variable_handle<std::int64_t> step = tr::get_or_create_global_step();
  variable_handle<T> w;
  expr<T> loss;

  weighted_squares(const shape& extent, gradient_form k)
      : w(variable(filled_by<T>(extent, first_weight), {.name = "w"})) {
    if (k == gradient_form::sparse)
      loss = reduce_sum(square(gather(w, constant<int>({0, 2, 2})) - T(3)));
    else
      loss = reduce_sum(square(w - constant(filled_by<T>(extent, wanted_weight))) *
                        constant(filled_by<T>(extent, weight_of_square)));
  }
};

doubles slope_of(const doubles& w, std::int64_t rows, gradient_form k) {
  doubles g(w.size());
  const std::size_t row = w.size() / static_cast<std::size_t>(rows);
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double times = i / row == 0 ? 1 : i / row == 2 ? 2 : 0;
    g[i] = k == gradient_form::sparse ? times * 2 * (w[i] - 3) : 2 * weight_of_square(i) * (w[i] - wanted_weight(i));
  }
  return g;
}

constexpr int whole_steps = 20;

template <class T, class Optimizer>
double distance_from_loops(const Optimizer& o, const plain_step& by_hand, const shape& extent, gradient_form k) {
  weighted_squares<T> m(extent, k);
  const auto train = o.minimize(m.loss, {.global_step = m.step});
  session sess;
  sess.run(global_variables_initializer());
  doubles w(static_cast<std::size_t>(extent.count()));
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = first_weight(i);
  for (int t = 1; t <= whole_steps; ++t) {
    sess.run(train);
    by_hand(w, slope_of(w, extent[0], k), t);
  }
  CHECK(std::int64_t(sess.run(m.step)) == whole_steps);
  const auto got = sess.run(m.w);
  double most = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double off = std::abs(static_cast<double>(got.span()[i]) - w[i]);
    if (!(off <= most)) most = off;
  }
  CHECK(std::abs(w[0] - first_weight(0)) > .01);
  return most;
}

// Follows an optimizer in float and double; make() begins the plain loops anew.
template <class Optimizer>
void follow_by_loops(const Optimizer& o, const std::function<plain_step(const shape&)>& make,
                     const std::vector<shape>& extents,
                     std::vector<gradient_form> kinds = {gradient_form::dense, gradient_form::sparse}) {
  for (const shape& extent : extents)
    for (const gradient_form k : kinds) {
      INFO(to_string(extent) << (k == gradient_form::sparse ? " sparse" : " dense"));
      CHECK(distance_from_loops<double>(o, make(extent), extent, k) < 1e-9);
      CHECK(distance_from_loops<float>(o, make(extent), extent, k) < 2e-4);
    }
}

double squares_of(const doubles& x) {
  double sum = 0;
  for (const double e : x) sum += e * e;
  return sum;
}
double mean_of_squares(const doubles& x) {
  return squares_of(x) / static_cast<double>(x.size());
}

// ---- the papers' formulas

plain_step lamb_by_hand(double rate, double decay, bool adapts) {
  return [=, m = doubles(), v = doubles()](doubles& w, const doubles& g, int t) mutable {
    m.resize(w.size()), v.resize(w.size());
    doubles u(w.size());
    for (std::size_t i = 0; i < w.size(); ++i) {
      m[i] = .9 * m[i] + (1 - .9) * g[i];
      v[i] = .999 * v[i] + (1 - .999) * g[i] * g[i];
      u[i] = m[i] / (1 - std::pow(.9, t)) / (std::sqrt(v[i] / (1 - std::pow(.999, t))) + 1e-6) + decay * w[i];
    }
    const double ratio = adapts ? std::sqrt(squares_of(w)) / std::sqrt(squares_of(u)) : 1;
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= rate * ratio * u[i];
  };
}

struct factored_numbers {
  double rate = .01, threshold = 1, beta1 = 0;
  bool relative = true, scales = true;
};

// The directions of a matrix of n columns, or of a vector for n = 0.
doubles adafactor_direction(const doubles& g, std::size_t n, double part, doubles& r, doubles& c) {
  doubles u(g.size());
  if (n == 0) {
    r.resize(g.size());
    for (std::size_t i = 0; i < g.size(); ++i)
      r[i] += (g[i] * g[i] + 1e-30 - r[i]) * part, u[i] = g[i] / std::sqrt(r[i]);
    return u;
  }
  const std::size_t m = g.size() / n;
  r.resize(m), c.resize(n);
  doubles row(m), column(n);
  for (std::size_t i = 0; i < g.size(); ++i) {
    row[i / n] += (g[i] * g[i] + 1e-30) / static_cast<double>(n);
    column[i % n] += (g[i] * g[i] + 1e-30) / static_cast<double>(m);
  }
  double mean = 0;
  for (std::size_t i = 0; i < m; ++i) r[i] += (row[i] - r[i]) * part, mean += r[i] / static_cast<double>(m);
  for (std::size_t j = 0; j < n; ++j) c[j] += (column[j] - c[j]) * part;
  for (std::size_t i = 0; i < g.size(); ++i) u[i] = g[i] / std::sqrt(r[i / n] * c[i % n] / mean);
  return u;
}

plain_step adafactor_by_hand(const factored_numbers& of, std::size_t n) {
  return [=, r = doubles(), c = doubles(), mean = doubles()](doubles& w, const doubles& g, int t) mutable {
    const doubles u = adafactor_direction(g, n, std::pow(t, -.8), r, c);
    double rate = of.relative ? std::min(of.rate, 1 / std::sqrt(t)) : of.rate;
    if (of.scales) rate *= std::max(1e-3, std::sqrt(mean_of_squares(w)));
    rate /= std::max(1., std::sqrt(mean_of_squares(u)) / of.threshold);
    mean.resize(w.size());
    for (std::size_t i = 0; i < w.size(); ++i) {
      mean[i] = of.beta1 * mean[i] + (1 - of.beta1) * rate * u[i];
      w[i] -= mean[i];
    }
  };
}

// Jordan 2024, with the sum of the gradients as the momentum: a product with x^T from the right, whatever the shape.
plain_step muon_by_hand(double rate, double decay, bool nesterov, std::size_t n) {
  return [=, b = doubles()](doubles& w, const doubles& g, int) mutable {
    b.resize(w.size());
    doubles x(w.size());
    for (std::size_t i = 0; i < w.size(); ++i) {
      b[i] = .95 * b[i] + g[i];
      x[i] = nesterov ? g[i] + .95 * b[i] : b[i];
    }
    const std::size_t m = w.size() / n;
    const double norm = std::sqrt(squares_of(x));
    for (double& e : x) e /= norm + 1e-7 / (1 - .95);  // the optimizer keeps b as a mean
    const auto product = [](const doubles& a, const doubles& c, std::size_t rows, std::size_t inner,
                            const std::function<std::size_t(std::size_t, std::size_t)>& at) {
      const std::size_t columns = c.size() / inner;
      doubles y(rows * columns);
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
          for (std::size_t k = 0; k < inner; ++k) y[i * columns + j] += a[i * inner + k] * c[at(k, j)];
      return y;
    };
    for (int k = 0; k < 5; ++k) {
      const doubles a = product(x, x, m, n, [&](std::size_t i, std::size_t j) { return j * n + i; });  // x x^T
      const doubles plain = product(a, a, m, m, [&](std::size_t i, std::size_t j) { return i * m + j; });
      doubles p(a.size());
      for (std::size_t i = 0; i < p.size(); ++i) p[i] = -4.775 * a[i] + 2.0315 * plain[i];
      const doubles change = product(p, x, m, m, [&](std::size_t i, std::size_t j) { return i * n + j; });
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = 3.4445 * x[i] + change[i];
    }
    const double scale = std::sqrt(std::max(1., static_cast<double>(m) / static_cast<double>(n)));
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= rate * (scale * x[i] + decay * w[i]);
  };
}

}  // namespace

TEST_CASE("LAMB goes where plain loops go") {
  follow_by_loops(tr::lamb{{.learning_rate = .03}}, [](const shape&) { return lamb_by_hand(.03, .01, true); },
                  {{3, 5}, {4}});
  follow_by_loops(tr::lamb{{.learning_rate = .03, .weight_decay = .2, .decays = [](auto name) { return name != "w"; }}},
                  [](const shape&) { return lamb_by_hand(.03, 0, false); }, {{3, 5}});
  follow_by_loops(tr::lamb{{.learning_rate = .03, .weight_decay = .2, .adapts = [](auto name) { return name != "w"; }}},
                  [](const shape&) { return lamb_by_hand(.03, .2, false); }, {{3, 5}});
}

TEST_CASE("LAMB begins where a variable is 0, and stays where its gradient is") {
  own_graph f;
  auto zero = variable(tensor<float>({2, 2}), {.name = "zero"});
  auto calm = variable(tensor<float>::of({1, 2}), {.name = "calm"});
  const auto loss = reduce_sum(square(zero - 1.f)) + reduce_sum(calm) * 0.f;
  const auto train =
      tr::lamb{{.learning_rate = .5, .weight_decay = 0, .adapts = [](auto) { return true; }}}.minimize(loss);
  session sess;
  sess.run(global_variables_initializer());
  sess.run(train);
  CHECK(sess.run(zero)(0, 0) == Approx(.5).epsilon(1e-4));
  CHECK(sess.run(calm) == tensor<float>::of({1, 2}));
}

TEST_CASE("Adafactor goes where plain loops go") {
  const auto columns = [](const shape& s) { return s.rank() == 1 ? 0u : static_cast<std::size_t>(s[s.rank() - 1]); };
  const auto make = [=](factored_numbers of) {
    return [=](const shape& s) { return adafactor_by_hand(of, columns(s)); };
  };
  follow_by_loops(tr::adafactor{{}}, make({}), {{3, 5}, {6, 2}, {4}}, {gradient_form::dense});
  follow_by_loops(tr::adafactor{{.learning_rate = .5}}, make({.rate = .5}), {{3, 5}, {4}}, {gradient_form::dense});
  follow_by_loops(
      tr::adafactor{{.learning_rate = .02, .clip_threshold = .5, .relative_step = false, .scale_parameter = false}},
      make({.rate = .02, .threshold = .5, .relative = false, .scales = false}), {{3, 5}, {4}}, {gradient_form::dense});
  follow_by_loops(tr::adafactor{{.learning_rate = .02, .beta1 = .8}}, make({.rate = .02, .beta1 = .8}), {{3, 5}, {4}},
                  {gradient_form::dense});
}

TEST_CASE("Adafactor takes a sparse gradient for a dense one") {
  const auto trained = [](gradient_form k) {
    own_graph f;
    auto w = variable(filled_by<double>({4, 3}, first_weight), {.name = "w"});
    const auto rows = constant<int>({0, 2, 2, 1, 3});
    const auto used =
        k == gradient_form::sparse ? expr<double>(gather(w, rows)) : expr<double>(gather(w.read() * 1., rows));
    const auto train = tr::adafactor{{}}.minimize(reduce_sum(square(used - 3.)));
    session sess;
    sess.run(global_variables_initializer());
    for (int t = 0; t < 5; ++t) sess.run(train);
    return sess.run(w);
  };
  const auto a = trained(gradient_form::sparse), b = trained(gradient_form::dense);
  for (std::size_t i = 0; i < a.span().size(); ++i) CHECK(a.span()[i] == Approx(b.span()[i]).epsilon(1e-12));
}

TEST_CASE("Adafactor keeps a row and a column of a matrix, and of each matrix of a stack") {
  own_graph f;
  auto stack = variable(filled_by<float>({2, 3, 5}, first_weight), {.name = "stack"});
  auto bias = variable(filled_by<float>({5}, first_weight), {.name = "bias"});
  const tr::adafactor o{{}};
  const auto train = o.minimize(reduce_sum(square(stack + bias - 2.f)));
  CHECK(to_string(o.get_slot(stack, "r").shape()) == "[2, 3]");
  CHECK(to_string(o.get_slot(stack, "c").shape()) == "[2, 5]");
  CHECK(to_string(o.get_slot(bias, "v").shape()) == "[5]");
  CHECK(o.get_slot(stack, "r").name() == "stack/Adafactor");
  CHECK(failure([&] { o.get_slot(stack, "v"); }).starts_with("not_found: Adafactor keeps no 'v' of 'stack'"));
  session sess;
  sess.run(global_variables_initializer());
  const auto loss = reduce_sum(square(stack + bias - 2.f));
  const float before = sess.run(loss);
  for (int t = 0; t < 50; ++t) sess.run(train);
  CHECK(float(sess.run(loss)) < .6f * before);
}

TEST_CASE("Muon goes where plain loops go, on wide, tall and square matrices") {
  const auto columns = [](const shape& s) { return static_cast<std::size_t>(s[1]); };
  follow_by_loops(tr::muon{{}}, [=](const shape& s) { return muon_by_hand(.02, 0, true, columns(s)); },
                  {{3, 5}, {5, 3}, {4, 4}}, {gradient_form::dense});
  follow_by_loops(tr::muon{{.learning_rate = .01, .use_nesterov = false, .weight_decay = .1}},
                  [=](const shape& s) { return muon_by_hand(.01, .1, false, columns(s)); }, {{3, 5}, {5, 3}},
                  {gradient_form::dense});
}

TEST_CASE("Muon leaves vectors, tables and what is not among its matrices to AdamW") {
  const auto trained = [](const auto& o) {
    own_graph f;
    auto head = variable(filled_by<float>({3, 2}, first_weight), {.name = "head"});
    auto bias = variable(filled_by<float>({2}, first_weight), {.name = "bias"});
    auto table = variable(filled_by<float>({4, 3}, first_weight), {.name = "table"});
    const auto train = o.minimize(reduce_sum(square(matmul(gather(table, constant<int>({1, 2})), head) + bias - 2.f)));
    session sess;
    sess.run(global_variables_initializer());
    for (int t = 0; t < 5; ++t) sess.run(train);
    const auto [a, b, c] = sess.run(head, bias, table);
    return to_string(a) + to_string(b) + to_string(c);
  };
  const tr::muon m{{.matrices = [](std::string_view name) { return name != "head"; }, .others = {.learning_rate = .1}}};
  CHECK(trained(m) == trained(tr::adamw{{.learning_rate = .1}}));

  own_graph f;
  auto w = variable(filled_by<float>({3, 2}, first_weight), {.name = "w"});
  auto bias = variable(filled_by<float>({2}, first_weight), {.name = "bias"});
  const tr::muon both{{}};
  const auto step = tr::get_or_create_global_step();
  const auto train = both.minimize(reduce_sum(square(w + bias)), {.global_step = step});
  CHECK(both.get_slot(w, "momentum").name() == "w/Muon");
  CHECK(both.others().get_slot(bias, "m").name() == "bias/AdamW");
  session sess;
  sess.run(global_variables_initializer());
  sess.run(train);
  CHECK(std::int64_t(sess.run(step)) == 1);
}

TEST_CASE("optimizers of whole variables follow a rate that the graph computes, and train other devices alike") {
  const auto trained = [](auto make, bool on_gpu) {
    weighted_squares<float> m({3, 4}, gradient_form::dense);
    const auto train = make(tr::scalar_value(tr::exponential_decay(.05, m.step, {.decay_steps = 10})))
                           .minimize(m.loss, {.global_step = m.step});
    const auto init = global_variables_initializer();
    session sess{on_gpu ? session_options{.simulated = {sim::gpu()}} : session_options{}};
    sess.run(init);
    for (int t = 0; t < 8; ++t) sess.run(train);
    return sess.run(m.w);
  };
  const auto lamb = [](const tr::scalar_value& r) { return tr::lamb{{.learning_rate = r}}; };
  const auto adafactor = [](const tr::scalar_value& r) { return tr::adafactor{{.learning_rate = r}}; };
  const auto muon = [](const tr::scalar_value& r) { return tr::muon{{.learning_rate = r}}; };
  CHECK(trained(lamb, true) == trained(lamb, false));
  CHECK(trained(adafactor, true) == trained(adafactor, false));
  CHECK(trained(muon, true) == trained(muon, false));
}

TEST_CASE("numbers that these optimizers cannot use are refused") {
  CHECK(failure([] { tr::adamw{{.beta2 = 1}}; }) == "invalid_argument: a beta of adamw is 1; it must be in [0, 1)");
  CHECK(failure([] { tr::adamw{{.weight_decay = -.1}}; }) ==
        "invalid_argument: the weight_decay of adamw is -0.1; it must be finite and not negative");
  CHECK(failure([] { tr::lion{{.beta1 = -1}}; }) == "invalid_argument: a beta of lion is -1; it must be in [0, 1)");
  CHECK(failure([] { tr::lion{{.weight_decay = NAN}}; }).ends_with("it must be finite and not negative"));
  CHECK(failure([] { tr::lamb{{.epsilon = -1}}; }) ==
        "invalid_argument: the epsilon of lamb is -1; it must be finite and not negative");
  CHECK(
      failure([] { tr::adafactor{{.beta2_decay = .8}}; }) ==
      "invalid_argument: the beta2_decay of adafactor is 0.8; it is the exponent of the part that is new, and must be "
      "at most 0");
  CHECK(failure([] { tr::adafactor{{.clip_threshold = 0}}; }) ==
        "invalid_argument: the clip_threshold of adafactor is 0; it must be finite and positive");
  CHECK(failure([] { tr::muon{{.momentum = 1}}; }) ==
        "invalid_argument: the momentum of muon is 1; it must be in [0, 1)");
  CHECK(failure([] { tr::muon{{.iterations = 0}}; }) ==
        "invalid_argument: the number of iterations of muon is 0; it must be finite and positive");
  CHECK(failure([] { tr::muon{{.others = {.weight_decay = -1}}}; }) ==
        "invalid_argument: the weight_decay of adamw is -1; it must be finite and not negative");
}

TEST_CASE("optimizers of today learn a layer") {
  const auto left = [](const auto& o) {
    own_graph f;
    auto w = variable(tensor<float>::of({{1, -1}, {.5, 2}, {-1, 0}}), {.name = "w"});
    auto bias = variable(tensor<float>::of({.5, -.5}), {.name = "bias"});
    const auto x = constant<float>({{1, 2, 0}, {-1, .5, 1}, {0, 1, -2}, {2, -1, 1}});
    const auto wanted = constant<float>({{1, 0}, {0, 1}, {-1, .5}, {2, 1}});
    const auto loss = reduce_mean(square(matmul(x, w) + bias - wanted));
    const auto train = o.minimize(loss);
    session sess;
    sess.run(global_variables_initializer());
    const float before = sess.run(loss);
    for (int t = 0; t < 300; ++t) sess.run(train);
    return float(sess.run(loss)) / before;
  };
  CHECK(left(tr::adamw{{.learning_rate = .05}}) < .05);
  CHECK(left(tr::lion{{.learning_rate = .01}}) < .05);
  CHECK(left(tr::lamb{{.learning_rate = .02}}) < .05);
  CHECK(left(tr::adafactor{{.learning_rate = .05}}) < .05);
  CHECK(left(tr::muon{{.learning_rate = .02, .others = {.learning_rate = .02}}}) < .05);
  CHECK(left(tr::accumulate{tr::adamw{{.learning_rate = .1}}, 2}) < .05);
}
