// Bodies of misuse.hpp.
#include "misuse.hpp"

#include <cstdio>
#include <mutex>
#include <utility>

namespace fake_cuda {

namespace {

std::mutex mutex;
std::vector<std::string> sentences;

}  // namespace

void report(const std::string& sentence) {
  std::lock_guard lock(mutex);
  std::fprintf(stderr, "misuse of CUDA: %s\n", sentence.c_str());
  sentences.push_back(sentence);
}

std::vector<std::string> take_misuses() {
  std::lock_guard lock(mutex);
  return std::exchange(sentences, {});
}

}  // namespace fake_cuda
