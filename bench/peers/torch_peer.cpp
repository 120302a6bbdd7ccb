// libtorch as a peer: torch_peer mnist THREADS ROWS FILE. bench/peer.hpp tells how it speaks.
#include <torch/torch.h>
#include <torch/version.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

extern "C" void openblas_set_num_threads(int) __attribute__((weak));

namespace {

const std::vector<std::int64_t> sizes{784, 160, 160, 160, 160, 160, 10};

torch::Tensor take(std::istream& from, std::vector<std::int64_t> shape, torch::ScalarType type = torch::kFloat) {
  auto t = torch::empty(shape, type);
  from.read(static_cast<char*>(t.data_ptr()), static_cast<std::streamsize>(t.nbytes()));
  return t;
}

struct training {
  std::vector<torch::Tensor> weights, biases, images, labels;
  std::size_t at = 0;

  training(std::int64_t rows, const char* path) {
    std::ifstream file(path, std::ios::binary);
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
      weights.push_back(take(file, {sizes[i], sizes[i + 1]}).requires_grad_());
      biases.push_back(take(file, {sizes[i + 1]}).requires_grad_());
    }
    while (file.peek() != EOF) {
      images.push_back(take(file, {rows, sizes[0]}));
      labels.push_back(take(file, {rows}, torch::kInt).to(torch::kLong));
    }
  }
  torch::Tensor loss() {
    torch::Tensor h = images[at];
    for (std::size_t i = 0; i < weights.size(); ++i) {
      h = torch::addmm(biases[i], h, weights[i]);
      if (i + 1 < weights.size()) h = torch::elu_(h);
    }
    const auto result = torch::nn::functional::cross_entropy(h, labels[at]);
    at = (at + 1) % images.size();
    return result;
  }
};

}  // namespace

int main(int, char** argv) {
  const int threads = std::atoi(argv[2]);
  torch::set_num_threads(threads);
  if (openblas_set_num_threads) openblas_set_num_threads(1);  // or the threads of both are too many for the cores
  training t(std::atoll(argv[3]), argv[4]);
  std::vector<torch::Tensor> all = t.weights;
  all.insert(all.end(), t.biases.begin(), t.biases.end());
  torch::optim::SGD optimizer(all, torch::optim::SGDOptions(.001).momentum(.95));
  std::printf("ready libtorch %s\n", TORCH_VERSION);
  std::fflush(stdout);
  long count = 0;
  while (std::scanf("%ld", &count) == 1) {
    float last = 0;
    const auto start = std::chrono::steady_clock::now();
    for (long i = 0; i < count; ++i) {
      optimizer.zero_grad();
      const auto loss = t.loss();
      loss.backward();
      optimizer.step();
      last = loss.item<float>();
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%.9g %.9g\n", seconds, static_cast<double>(last));
    std::fflush(stdout);
  }
}
