// Memory for compute: a training step of a transformer of 24 layers whose blocks are computed again for the backward
// pass, as the program says or as a limit of the session demands, beside one that keeps all values.
#include <cstdint>
#include <memory>
#include <string>

#include <pinion/pinion.hpp>

#include "contest.hpp"

namespace {

namespace pn = pinion;
using expr = pn::expr<float>;

constexpr std::int64_t batch = 32, length = 64, width = 128, heads = 4, depth = 32, layers = 24;

expr weights(const pn::shape& extent, double stddev) {
  return pn::variable(pn::truncated_normal<float>(extent, {.stddev = stddev, .seed = 7}));
}

expr block(const expr& from) {
  const expr one = pn::ones<float>({width}), h = pn::rms_norm(from, one);
  const auto project = [&] { return expr(pn::einsum("btc,chd->bhtd", h, weights({width, heads, depth}, .1))); };
  const expr q = project(), k = project(), v = project();
  const expr told = pn::scaled_dot_product_attention(q, k, v, {.causal = true});
  const expr x = from + pn::einsum("bhtd,hdc->btc", told, weights({heads, depth, width}, .1));
  const expr wide = pn::relu(pn::matmul(pn::rms_norm(x, one), weights({width, 4 * width}, .1)));
  return x + pn::matmul(wide, weights({4 * width, width}, .05));
}

// A model with a session of its own.
struct trained {
  pn::graph g;
  expr x, loss;
  pn::operation train;
  std::unique_ptr<pn::session> sess;
  pn::tensor<float> lines{pn::shape{batch, length, width}};

  trained(bool again, std::int64_t limit) {
    const auto use = g.as_default();
    const auto in = pn::placeholder<float>({batch, length, width});
    expr h = x = in;
    for (int i = 0; i < layers; ++i) h = again ? pn::recompute([&] { return block(h); }) : block(h);
    loss = pn::reduce_mean(pn::square(h));
    train = pn::train::gradient_descent{{.learning_rate = 1e-4f}}.minimize(loss);
    sess = std::make_unique<pn::session>(pn::session_options{.inter_op_threads = 1, .memory_limit = limit});
    sess->run(pn::global_variables_initializer());
    for (std::int64_t i = 0; i < lines.size(); ++i) lines.data()[i] = static_cast<float>(i % 101) * .02f - 1;
  }
  void step() { sess->run({{x, lines}}, train); }
};

std::string megabytes(const trained& t) {
  return fmt::format("{:.1f} MB", static_cast<double>(t.sess->memory().peak()) * 1e-6);
}

}  // namespace

int main() {
  trained kept(false, 0), again(true, 0);
  kept.step(), again.step();
  const std::int64_t whole = kept.sess->memory().peak();
  trained limited(false, whole / 3);
  limited.step();
  bench::contest c;
  const int all = c.add("all values kept", bench::wall_seconds, [&] { kept.step(); });
  const int parts = c.add("recompute", bench::wall_seconds, [&] { again.step(); });
  const int chosen = c.add("memory_limit of a third", bench::wall_seconds, [&] { limited.step(); });
  c.run();
  const std::string work = "24 layers of a transformer";
  c.row(work, parts, all, bench::at_most(1.3));
  c.row(work, chosen, all, bench::at_most(1.3));
  for (const auto& [who, t] : {std::pair("recompute", &again), std::pair("memory_limit of a third", &limited)})
    bench::print_row(work + ": memory", who, "all values kept", megabytes(*t), megabytes(kept),
                     static_cast<double>(t->sess->memory().peak()) / static_cast<double>(whole),
                     bench::at_most(1. / 3));
}
