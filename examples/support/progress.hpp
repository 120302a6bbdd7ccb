// A live line of a training run: epoch, steps a second, loss, time left. Plain lines where the output is no terminal.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>

#include <fmt/format.h>

class progress {
 public:
  progress(int epochs, std::size_t steps_per_epoch)
      : epochs_(epochs), per_epoch_(steps_per_epoch), live_(isatty(STDOUT_FILENO) != 0) {}

  // Counts one step. Writes a few times a second on a terminal, once an epoch elsewhere.
  void step(float loss) {
    ++steps_;
    loss_ = steps_ == 1 ? loss : .98f * loss_ + .02f * loss;
    const bool epoch_ends = steps_ % per_epoch_ == 0;
    if (live_ ? epoch_ends || clock::now() - shown_ > std::chrono::milliseconds(200) : epoch_ends) show();
  }
  void finish() {
    if (live_) fmt::print("\n");
    fmt::print("{} steps in {:.1f} s\n", steps_, seconds());
  }

 private:
  using clock = std::chrono::steady_clock;

  double seconds() const { return std::chrono::duration<double>(clock::now() - start_).count(); }
  void show() {
    shown_ = clock::now();
    const std::size_t all = per_epoch_ * static_cast<std::size_t>(epochs_);
    const double rate = static_cast<double>(steps_) / seconds();
    fmt::print("{}epoch {}/{}  {:.0f} steps/s  loss {:.4f}  {:.0f} s left{}", live_ ? "\r\033[K" : "",
               (steps_ - 1) / per_epoch_ + 1, epochs_, rate, loss_, static_cast<double>(all - steps_) / rate,
               live_ ? "" : "\n");
    std::fflush(stdout);
  }

  int epochs_;
  std::size_t per_epoch_, steps_ = 0;
  bool live_;
  float loss_ = 0;
  clock::time_point start_ = clock::now(), shown_ = start_;
};
