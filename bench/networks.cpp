// Layers, training steps and row operations of today's networks beside PyTorch: attention, an LSTM, a convolutional
// network, a transformer, norms, sorting. Both compute the same of the same numbers, in two threads; a row whose
// results differ says so. Training steps are those of Adam with a rate of 0, so that all steps yield the same.
#include <cmath>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <pinion/session.hpp>
#include <pinion/train.hpp>

#include "contest.hpp"
#include "peer.hpp"

namespace {

namespace pn = pinion;

constexpr int threads = 2;

// The numbers of the n-th operand, as bench/peers/networks_peer.py makes them.
pn::tensor<float> filled(const pn::shape& of, int n) {
  pn::tensor<float> t(of);
  for (std::int64_t i = 0; i < t.size(); ++i)
    t.data()[i] = (static_cast<float>((i * 7919 + n * 131) % 1009) / 1009 - .5f) * .2f;
  return t;
}

// Operands of a work, and what is fetched.
struct network {
  pn::graph g;
  decltype(g.as_default()) use = g.as_default();
  pn::session s{{.graph = &g, .inter_op_threads = 1, .intra_op_threads = threads}};
  std::vector<pn::feed> operands;
  std::vector<pn::operation> targets;
  int count = 0;
  bool trains = false;  // weights are variables

  pn::expr<float> operand(const pn::shape& of) {
    const auto x = pn::placeholder<float>(of);
    operands.push_back({x, filled(of, count++)});
    return x;
  }
  pn::expr<float> weight(const pn::shape& of) {
    if (trains) return pn::variable(filled(of, count++));
    return operand(of);
  }
};

using maker = std::function<pn::expr<float>(network&)>;

pn::expr<float> attention(network& n, std::vector<pn::expr<float>>& weights) {
  const auto x = n.operand({4, 512, 512});
  const auto projected = [&] {
    weights.push_back(n.weight({512, 8, 64}));
    return pn::expr<float>(pn::einsum("btc,chd->bhtd", x, weights.back()));
  };
  const auto q = projected(), k = projected(), v = projected();
  weights.push_back(n.weight({8, 64, 512}));
  return pn::einsum("bhtd,hdc->btc", pn::scaled_dot_product_attention(q, k, v), weights.back());
}

pn::expr<float> lstm(network& n, std::vector<pn::expr<float>>& weights) {
  const auto x = n.operand({64, 32, 256}), h = n.operand({32, 256}), c = n.operand({32, 256});
  weights = {n.weight({256, 1024}), n.weight({256, 1024}), n.weight({1024})};
  return pn::lstm(x, h, c, weights[0], weights[1], weights[2]).out;
}

pn::expr<float> convolutions(network& n, std::vector<pn::expr<float>>&) {
  pn::expr<float> h = n.operand({128, 28, 28, 1});
  for (const std::int64_t filters : {32, 64}) {
    const auto w = n.weight({3, 3, h.shape()[3], filters});
    h = pn::max_pool(pn::relu(pn::conv2d(h, w, {.padding = pn::padding::same}) + n.weight({filters})));
  }
  h = pn::reshape(h, {128, 7 * 7 * 64});
  const auto w = n.weight({7 * 7 * 64, 128});
  h = pn::relu(pn::matmul(h, w) + n.weight({128}));
  const auto v = n.weight({128, 10});
  return pn::matmul(h, v) + n.weight({10});
}

pn::expr<float> transformer(network& n, std::vector<pn::expr<float>>&) {
  pn::expr<float> x = n.operand({16, 64, 256});
  const auto norm = [&](const pn::expr<float>& of) {
    const auto gamma = n.weight({256});
    return pn::expr<float>(pn::layer_norm(of, gamma, n.weight({256})));
  };
  for (int layer = 0; layer < 6; ++layer) {
    const pn::expr<float> a = norm(x);
    const auto projected = [&] { return pn::expr<float>(pn::einsum("btc,chd->bhtd", a, n.weight({256, 8, 32}))); };
    const auto q = projected(), k = projected(), v = projected();
    x = x + pn::einsum("bhtd,hdc->btc", pn::scaled_dot_product_attention(q, k, v), n.weight({8, 32, 256}));
    const pn::expr<float> b = norm(x);
    const auto up = n.weight({256, 1024});
    const pn::expr<float> hidden = pn::gelu(pn::matmul(b, up) + n.weight({1024}));
    const auto down = n.weight({1024, 256});
    x = x + (pn::matmul(hidden, down) + n.weight({256}));
  }
  return x;
}

using network_of_weights = pn::expr<float> (*)(network&, std::vector<pn::expr<float>>&);

// The loss of a step that trains all weights.
pn::expr<float> training(network& n, network_of_weights model) {
  n.trains = true;
  std::vector<pn::expr<float>> weights;
  const auto loss = pn::reduce_mean(pn::square(model(n, weights)));
  n.targets = {pn::train::adam{{.learning_rate = 0}}.minimize(loss)};
  n.s.run(pn::global_variables_initializer());
  return loss;
}

// The gradient of the first weights; those of all are computed.
pn::expr<float> with_gradients(network& n, network_of_weights layer) {
  std::vector<pn::expr<float>> weights;
  const auto y = layer(n, weights);
  pn::expr<float> sum = pn::constant(0.f);
  for (const auto& w : weights) sum = sum + pn::reduce_sum(std::get<0>(pn::gradients(y, w)));
  return sum;
}

const std::vector<std::tuple<std::string, maker, double>> works{
    {"attention",
     [](network& n) {
       std::vector<pn::expr<float>> w;
       return attention(n, w);
     },
     1 / .9},
    {"attention_gradient", [](network& n) { return with_gradients(n, attention); }, 1 / .9},
    {"lstm_gradient", [](network& n) { return with_gradients(n, lstm); }, 1 / .9},
    {"convolutions_training", [](network& n) { return training(n, convolutions); }, 1 / .8},
    {"transformer_training", [](network& n) { return training(n, transformer); }, 1 / .9},
    {"layer_norm",
     [](network& n) {
       const auto x = n.operand({2048, 512}), gamma = n.operand({512}), beta = n.operand({512});
       return pn::expr<float>(pn::layer_norm(x, gamma, beta));
     },
     1 / .75},
    {"softmax",
     [](network& n) {
       return pn::expr<float>(pn::softmax(n.operand({2048, 512})));
     },
     1 / .75},
    {"gelu",
     [](network& n) {
       return pn::expr<float>(pn::gelu(n.operand({2048, 512})));
     },
     1 / .75},
    {"top_k",
     [](network& n) {
       return pn::top_k(n.operand({1024, 1024}), 16).values;
     },
     1 / .75},
    {"sort",
     [](network& n) {
       return pn::expr<float>(pn::sort(n.operand({1024, 1024})));
     },
     1 / .75},
    {"cumsum",
     [](network& n) {
       return pn::expr<float>(pn::cumsum(n.operand({1024, 1024}), 1));
     },
     1 / .75},
    {"gather",
     [](network& n) {
       pn::tensor<int> rows(pn::shape{16384});
       for (std::int64_t i = 0; i < rows.size(); ++i) rows.data()[i] = static_cast<int>(i * 7919 % 16384);
       return pn::expr<float>(pn::gather(n.operand({16384, 64}), pn::constant(rows)));
     },
     1 / .75}};

void measure(const std::string& work, const maker& make, double limit) {
  network n;
  const auto y = make(n);
  float last = 0;
  bench::contest c;
  const int ours = c.add("pinion", bench::wall_seconds, [&] {
    const pn::tensor<float> t(n.s.run({.feeds = n.operands, .fetches = {y}, .targets = n.targets})[0]);
    last = t.data()[t.size() - 1];
  });
  const auto torch = bench::peer::start("NETWORKS", {work, std::to_string(threads)});
  const int theirs = bench::add(c, torch);
  c.run();
  if (theirs < 0) return;
  c.row(work, ours, theirs, bench::at_most(limit));
  if (std::abs(last - torch->result()) > 1e-3 * (1 + std::abs(last)))
    fmt::print("{}: pinion yields {}, {} yields {}\n", work, last, torch->name(), torch->result());
}

}  // namespace

int main() {
  for (const auto& [work, make, limit] : works) measure(work, make, limit);
}
