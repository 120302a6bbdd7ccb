// How evenly replica_device_setter spreads variables of very different sizes over ps tasks.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <fmt/format.h>

#include <pinion/graph.hpp>

namespace {

namespace pn = pinion;
constexpr int tasks = 4;

// Floats of each variable, from a thousand to a million, evenly on a logarithmic scale, in random order.
std::vector<std::int64_t> sizes() {
  std::vector<std::int64_t> all;
  for (int i = 0; i < 48; ++i) all.push_back(static_cast<std::int64_t>(std::lround(1e3 * std::pow(1e3, i / 47.))));
  std::shuffle(all.begin(), all.end(), std::mt19937(5));
  return all;
}

template <class Strategy>
std::vector<std::int64_t> bytes_by_task() {
  pn::graph g;
  const auto use = g.as_default();
  std::vector<std::int64_t> bytes(tasks, 0);
  const pn::device on{pn::replica_device_setter<Strategy>{{.ps_tasks = tasks}}};
  for (const std::int64_t n : sizes()) {
    auto v = pn::variable(pn::zeros<float>({n}));
    bytes[static_cast<std::size_t>(g[v.id(g)].requested.task())] += 4 * n;
  }
  return bytes;
}

// Knowing all of them beforehand, the largest first: near the best there is.
std::vector<std::int64_t> largest_first() {
  auto all = sizes();
  std::sort(all.rbegin(), all.rend());
  std::vector<std::int64_t> bytes(tasks, 0);
  for (const auto n : all) *std::min_element(bytes.begin(), bytes.end()) += 4 * n;
  return bytes;
}

void show(const char* name, const std::vector<std::int64_t>& bytes, double best) {
  fmt::print("{:<24}", name);
  for (const auto b : bytes) fmt::print(" {:>10}", b);
  fmt::print(" {:>8.3f}\n", static_cast<double>(*std::max_element(bytes.begin(), bytes.end())) / best);
}

}  // namespace

int main() {
  std::int64_t total = 0, largest = 0;
  for (const auto n : sizes()) {
    total += 4 * n;
    largest = std::max(largest, 4 * n);
  }
  // No placement that splits nothing can do with less on the fullest task.
  const double best = std::max(static_cast<double>(total) / tasks, static_cast<double>(largest));
  fmt::print("48 variables of 4 kB to 4 MB, {} bytes in all, on {} ps tasks; no placement is below {:.0f}\n", total,
             tasks, best);
  fmt::print("{:<24} {:>10} {:>10} {:>10} {:>10} {:>8}\n", "bytes on ps task", 0, 1, 2, 3, "fullest");
  show("round_robin", bytes_by_task<pn::round_robin>(), best);
  show("hashed", bytes_by_task<pn::hashed>(), best);
  show("greedy_load_balancing", bytes_by_task<pn::greedy_load_balancing>(), best);
  show("(all known, sorted)", largest_first(), best);
}
