// The memory of a training step of the MNIST network: the most that the session held of the system, beside the tensors
// that are alive at once (variables, the values of the step as they were recorded, the batch), and beside what the step
// of ideal_mlp.hpp keeps: weights, gradients, momenta, activations and their gradients, and the batch.
//
// The tensors of a session come from the aligned operator new, which this program counts.
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include <pinion/train.hpp>

#include "contest.hpp"

static std::atomic<std::size_t> held = 0, most_held = 0;
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  const auto a = static_cast<std::size_t>(alignment);
  void* const p = std::aligned_alloc(a, (size + a - 1) / a * a);
  if (p) most_held = std::max(most_held.load(), held += malloc_usable_size(p));
  return p;
}
void operator delete(void* p, std::align_val_t) noexcept {
  if (p) held -= malloc_usable_size(p);
  std::free(p);
}

namespace {

namespace pn = pinion;
namespace tr = pinion::train;

struct network {
  pn::expr<float> X, loss;
  pn::expr<std::int32_t> y;
  pn::operation train, init;

  explicit network(std::int64_t rows) {
    X = pn::placeholder<float>({rows, 784}, "X");
    y = pn::placeholder<std::int32_t>({rows}, "y");
    pn::expr<float> h = X;
    for (const std::int64_t units : {160, 160, 160, 160, 160, 10}) {
      auto W = pn::variable(pn::truncated_normal<float>({h.shape()[1], units}, {.stddev = .1, .seed = 1}));
      auto b = pn::variable(pn::tensor<float>({units}));
      h = pn::matmul(h, W) + b;
      if (units != 10) h = pn::elu(h);
    }
    loss = pn::reduce_mean(pn::sparse_softmax_cross_entropy_with_logits(y, h));
    train = tr::momentum{{.learning_rate = .01f, .momentum = .95f}}.minimize(loss);
    init = pn::global_variables_initializer();
  }
};

std::size_t kept_by_hand(std::int64_t rows) {
  const std::vector<std::int64_t> sizes{784, 160, 160, 160, 160, 160, 10};
  std::int64_t floats = rows * (sizes[0] + 1);  // images and labels
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i)
    floats += 3 * (sizes[i] + 1) * sizes[i + 1] + 2 * rows * sizes[i + 1];
  return static_cast<std::size_t>(floats) * sizeof(float);
}

std::string kilobytes(std::size_t bytes) {
  return fmt::format("{:.0f} kB", static_cast<double>(bytes) * 1e-3);
}

void measure(std::int64_t rows, int threads) {
  pn::graph g;
  const auto use = g.as_default();
  const network net(rows);
  const std::size_t before = most_held = held.load();
  pn::session sess{{.inter_op_threads = threads, .intra_op_threads = 1}};
  sess.run(net.init);
  auto step = sess.make_callable(pn::feeds(net.X, net.y), pn::fetches(net.loss), pn::targets(net.train));
  {
    pn::tensor<float> images({rows, 784});
    pn::tensor<std::int32_t> labels({rows});
    for (int i = 0; i < 10; ++i) step(images, labels);
  }
  const std::size_t taken = most_held - before;
  const pn::memory_use m = sess.memory();
  const auto compare = [&](const char* who, std::size_t bytes, const char* beside, std::size_t others) {
    bench::print_row(fmt::format("memory of the MNIST step, batch {}, {} threads", rows, threads), who, beside,
                     kilobytes(bytes), kilobytes(others), static_cast<double>(bytes) / static_cast<double>(others),
                     bench::at_most(1.05));
  };
  const auto batch = static_cast<std::size_t>(rows) * 785 * sizeof(float);
  compare("its arena", static_cast<std::size_t>(m.arenas), "values in use at once", static_cast<std::size_t>(m.live));
  compare("pinion, the most held", taken, "tensors alive at once", static_cast<std::size_t>(m.peak()) + batch);
  compare("pinion, the most held", taken, "what the hand keeps", kept_by_hand(rows));
  fmt::print("batch {}, {} threads: {}\n", rows, threads, pn::to_string(m));
}

}  // namespace

int main() {
  for (const int threads : {1, 2})
    for (const std::int64_t rows : {50, 512}) measure(rows, threads);
}
