// What the programs on handwritten digits are told: where the digits are, how long to train, from which weights.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "mnist.hpp"

namespace mnist {

struct options {
  std::string data;
  int epochs = 20;
  std::int64_t seed = 1;
  std::size_t drawn = 0;  // digits to train with, drawn; 0: as many as MNIST has, or those of a folder

  void add_to(CLI::App& app) {
    app.option_defaults()->always_capture_default();
    app.add_option("--data", data,
                   "folder of the four IDX files, gzip or raw (default: PINION_MNIST_DIR, else drawn digits)");
    app.add_option("--epochs", epochs, "passes over the training digits, all workers together")
        ->check(CLI::PositiveNumber);
    app.add_option("--seed", seed, "of the first weights and the order of the digits");
    app.add_option("--digits", drawn, "train with so many drawn digits");
  }
  dataset digits() const { return drawn > 0 ? synthesise(drawn, drawn / 6, 1) : open(data); }
};

}  // namespace mnist
