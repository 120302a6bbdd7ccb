// A live line of a training run: epoch, steps a second, loss, time left. Plain lines where the output is no terminal.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

class progress {
 public:
  struct options {
    std::string who = {};                      // what every line begins with
    bool live = ::isatty(STDOUT_FILENO) != 0;  // a few lines a second, each over the last; else one an epoch
  };
  progress(int epochs, std::size_t steps_per_epoch, options o)
      : epochs_(epochs), per_epoch_(steps_per_epoch), options_(std::move(o)) {}
  progress(int epochs, std::size_t steps_per_epoch) : progress(epochs, steps_per_epoch, options{}) {}

  // Counts one step.
  void step(float loss) {
    ++steps_;
    loss_ = steps_ == 1 ? loss : .98f * loss_ + .02f * loss;
    const bool epoch_ends = steps_ % per_epoch_ == 0;
    if (epoch_ends || (options_.live && clock::now() - shown_ > std::chrono::milliseconds(200))) show();
  }
  void finish() const {
    if (options_.live) fmt::print("\n");
    fmt::print("{}{} steps in {:.1f} s\n", options_.who, steps_, seconds());
    std::fflush(stdout);
  }

  std::size_t all() const { return per_epoch_ * static_cast<std::size_t>(epochs_); }
  bool complete() const { return steps_ == all(); }
  double done() const { return static_cast<double>(steps_) / static_cast<double>(all()); }  // from 0 to 1
  double seconds() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

 private:
  using clock = std::chrono::steady_clock;

  void show() {
    shown_ = clock::now();
    const double rate = static_cast<double>(steps_) / seconds();
    fmt::print("{}{}epoch {}/{}  {:.0f} steps/s  loss {:.4f}  {:.0f} s left{}", options_.live ? "\033[K" : "",
               options_.who, (steps_ - 1) / per_epoch_ + 1, epochs_, rate, loss_,
               static_cast<double>(all() - steps_) / rate, options_.live ? '\r' : '\n');
    std::fflush(stdout);
  }

  int epochs_;
  std::size_t per_epoch_, steps_ = 0;
  options options_;
  float loss_ = 0;
  clock::time_point start_ = clock::now(), shown_ = start_;
};
