// A transformer learns to sort digits: a ps holds it, two workers train it, and it is decoded digit by digit, with a
// cache of keys and values.
//
//   6 2 9 1 | 1 2 6 ── digits + places ── 2 x (norm, attention, + ── norm, feed-forward, +) ── the next one: 9
//
#include <pinion/pinion.hpp>

#include <thread>

#include "support/transformer.hpp"

namespace tr = pinion::train;

void work(pn::local_cluster& cluster, int worker) {
  pn::graph g;
  const auto use = g.as_default();
  const pn::device on{pn::replica_device_setter{
      {.worker_device = "/job:worker/task:" + std::to_string(worker), .cluster = cluster.spec()}}};
  const auto line = pn::placeholder<int>({pn::unknown, whole}), sorted = pn::placeholder<int>({pn::unknown});
  const expr x = pn::gather(weights("digit", {digits, width}, .5), line) + weights("place", {whole, width}, .5);
  const expr all = next_digits(x, [](const expr& q, const expr& k, const expr& v) {
    return pn::scaled_dot_product_attention(q, k, v, {.causal = true});
  });
  const expr told = pn::reshape(pn::slice_at(all, pn::range_of(), pn::range_of(length - 1)), {-1, digits});
  const expr loss = pn::reduce_mean(pn::sparse_softmax_cross_entropy_with_logits(sorted, told));
  const auto train = tr::adam{{.learning_rate = .002}}.minimize(loss, {.global_step = tr::get_or_create_global_step()});
  tr::monitored_training_session sess{{.master = cluster.target("worker", worker),
                                       .is_chief = worker == 0,
                                       .hooks = {tr::stop_at_step({.last_step = 1500})},
                                       .log_step_count_steps = 0}};
  std::mt19937 random(static_cast<unsigned>(worker));
  pn::tensor<int> in({64, whole}), out({64 * length});
  while (!sess.should_stop()) {
    fill_lines(random, in, out);
    sess.run({{line, in}, {sorted, out}}, train);
  }
}

void sort(pn::local_cluster& cluster, std::vector<int> line) {
  pn::graph g;
  const auto use = g.as_default();
  const pn::device on{"/job:ps/task:0"};
  const auto digit = pn::placeholder<int>({1, 1}), at = pn::placeholder<int>({});
  const expr here = pn::reshape(pn::one_hot<float>(at, whole), {whole, 1});
  const expr x =
      pn::gather(weights("digit", {digits, width}), digit) + pn::gather(weights("place", {whole, width}), at);
  pn::session sess{{.target = cluster.target("worker", 0)}};
  const expr next = next_digits(x, [&](const expr& q, const expr& k, const expr& v) {
    const auto kept = [&](const expr& now) -> expr {  // the keys or values of all places so far
      const auto cache = pn::variable(pn::zeros<float>({1, heads, whole, depth}), {.name = "cache"});
      sess.run(cache.initializer());
      return pn::assign(cache, cache * (1.f - here) + now * here);
    };
    return pn::scaled_dot_product_attention(q, kept(k), kept(v), {.mask = pn::range<int>(whole) <= at});
  });
  const auto best = pn::reshape(pn::cast<int>(pn::argmax(next, -1)), {});
  for (int i = 0; i < whole; ++i) {
    const int told = sess.run({{digit, {{line[static_cast<std::size_t>(i)]}}}, {at, i}}, best);
    if (i >= length - 1) line.push_back(told);
  }
  fmt::print("{}\n", fmt::join(line, " "));
}

int main() try {
  pn::local_cluster cluster{{{"ps", 1}, {"worker", 2}}};
  std::thread other([&] { work(cluster, 1); });
  work(cluster, 0);
  other.join();
  sort(cluster, {6, 2, 9, 1, 4, 4, 0, 7});
  sort(cluster, {3, 3, 8, 1, 9, 0, 5, 2});
} catch (const pn::error& e) {
  fmt::print(stderr, "transformer: {}\n", e.what());
  return 1;
}
