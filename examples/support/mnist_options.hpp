// What the programs on handwritten digits are told: where the digits are, how long to train, from which weights.
#pragma once

#include <string>

#include "command_line.hpp"
#include "mnist.hpp"

namespace mnist {

struct options {
  std::string data;
  int epochs = 20;
  std::int64_t seed = 1;
  std::size_t drawn = 0;  // digits to train with, drawn; 0: as many as MNIST has, or those of a folder

  void add_to(command_line& line) {
    line.add("--data", data,
             "folder of the four IDX files, gzip or raw (default: PINION_MNIST_DIR, else drawn digits)");
    line.add("--epochs", epochs, "passes over the training digits, all workers together", {1, 1'000'000});
    line.add("--seed", seed, "of the first weights and the order of the digits");
    line.add("--digits", drawn, "train with so many drawn digits");
  }
  dataset digits() const { return drawn > 0 ? synthesise(drawn, drawn / 6, 1) : open(data); }
};

}  // namespace mnist
