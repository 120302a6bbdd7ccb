// Three sessions that train at once on one machine, each driven by a thread, beside one session alone: steps a second
// of all of them. The network is that of examples/13_mnist, the batch 50.
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../examples/support/model.hpp"
#include "contest.hpp"

namespace {

namespace pn = pinion;
namespace tr = pinion::train;

// A graph and session of its own.
class trainer {
 public:
  explicit trainer(int threads) {
    const auto use = graph_.as_default();
    model_ = mnist::build(5, 160, 42);
    train_ = tr::momentum{{.learning_rate = .001f, .momentum = .95f}}.minimize(model_.loss);
    const auto init = pn::global_variables_initializer();
    session_ = std::make_unique<pn::session>(
        pn::session_options{.graph = &graph_, .inter_op_threads = threads, .intra_op_threads = threads});
    session_->run(init);
    for (std::int64_t i = 0; i < images_.size(); ++i) images_.data()[i] = static_cast<float>(i % 97) / 97;
    for (std::int64_t i = 0; i < labels_.size(); ++i) labels_.data()[i] = static_cast<std::int32_t>(i % 10);
  }
  void steps(long count) {
    auto step = session_->make_callable(pn::feeds(model_.X, model_.y), pn::fetches(), pn::targets(train_));
    for (long i = 0; i < count; ++i) step(images_, labels_);
  }

 private:
  pn::graph graph_;
  mnist::model model_;
  pn::operation train_;
  std::unique_ptr<pn::session> session_;
  pn::tensor<float> images_{{50, 784}};
  pn::tensor<std::int32_t> labels_{{50}};
};

// Adds trainers that make `calls` steps together.
int add(bench::contest& c, const std::string& name, int count, int threads) {
  auto all = std::make_shared<std::vector<std::unique_ptr<trainer>>>();
  for (int i = 0; i < count; ++i) all->push_back(std::make_unique<trainer>(threads));
  return c.add(name, [all](long calls) {
    const double start = bench::wall_seconds();
    std::vector<std::thread> drivers;
    const long share = (calls + static_cast<long>(all->size()) - 1) / static_cast<long>(all->size());
    for (std::size_t i = 1; i < all->size(); ++i) drivers.emplace_back([&, i] { (*all)[i]->steps(share); });
    all->front()->steps(share);
    for (auto& d : drivers) d.join();
    return (bench::wall_seconds() - start) * static_cast<double>(calls) /
           static_cast<double>(share * static_cast<long>(all->size()));
  });
}

}  // namespace

int main() {
  bench::contest c;
  const int one = add(c, "1 session of 1 thread", 1, 1);
  const int three = add(c, "3 sessions of 1 thread", 3, 1);
  const int all = add(c, "3 sessions of all threads", 3, 0);
  c.run(9);
  c.row("MNIST steps a second, 2 cores", three, one, bench::at_least(1.5));
  c.row("MNIST steps a second, 2 cores", all, one, bench::at_least(1.5));
}
