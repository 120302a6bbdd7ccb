// The sum over all alignments of labels with the steps of a sequence, and its gradient.
//
// Source: Graves, Fernandez, Gomez, Schmidhuber, "Connectionist temporal classification: labelling unsegmented sequence
// data with recurrent neural networks", ICML 2006. A path goes through 2 L + 1 states, the L labels with a blank
// before, between and behind them: from step to step it stays, goes on by one state, or by two from a label to another
// one. Probabilities are logarithms in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace ctc {

constexpr double impossible = -std::numeric_limits<double>::infinity();

// The logarithm of e^a + e^b. NaN where one of them is.
inline double log_sum(double a, double b) {
  if (a == impossible) return b;
  if (b == impossible) return a;
  const bool up = a < b;  // neither way for NaN, which then is in one of the two
  const double most = up ? b : a, least = up ? a : b;
  return most + std::log1p(std::exp(least - most));
}

// The logits of one row: step t begins at first + t stride.
template <class T>
struct logits_of_row {
  const T* first;
  std::int64_t stride, steps, classes;

  const T* at(std::int64_t step) const { return first + step * stride; }
};

// The alignments of one row at a time. Its memory serves one row after the other. Not thread-safe.
template <class T>
class alignments {
 public:
  // The loss: minus the logarithm of the probability of all alignments; infinity where there is none.
  double loss(const logits_of_row<T>& x, const std::vector<std::int64_t>& labels, std::int64_t blank) {
    x_ = x;
    states_.assign(2 * labels.size() + 1, blank);
    for (std::size_t i = 0; i < labels.size(); ++i) states_[2 * i + 1] = labels[i];
    read_steps();
    go_forward();
    return 0 - whole_;
  }
  // Writes the gradient of the last loss by the logits, whose steps stand as those of the logits do: the probability of
  // each class, less the part of all alignments that go through it. 0 where there is no alignment.
  void write_gradient(T* to) {
    next_.assign(states_.size(), impossible);
    for (std::int64_t step = x_.steps; step-- > 0;) {
      go_back(step);
      write_step(step, to + step * x_.stride);
    }
  }

 private:
  std::size_t count() const { return states_.size(); }
  double* forward(std::int64_t step) { return forward_.data() + static_cast<std::size_t>(step) * count(); }
  double score(std::int64_t step, std::size_t state) const {
    return static_cast<double>(x_.at(step)[states_[state]]) - totals_[static_cast<std::size_t>(step)];
  }
  // Whether a path may come to a state from the last state but one.
  bool may_skip_to(std::size_t state) const {
    return state >= 3 && state % 2 == 1 && states_[state] != states_[state - 2];
  }

  // Finds the logarithm of each step's sum of e^x.
  void read_steps() {
    totals_.resize(static_cast<std::size_t>(x_.steps));
    for (std::int64_t step = 0; step < x_.steps; ++step) {
      const T* const x = x_.at(step);
      const auto most = static_cast<double>(*std::max_element(x, x + x_.classes));
      double sum = 0;
      for (std::int64_t k = 0; k < x_.classes; ++k) sum += std::exp(static_cast<double>(x[k]) - most);
      totals_[static_cast<std::size_t>(step)] = most + std::log(sum);
    }
  }
  // Finds the logarithms of the probabilities to be in a state at a step, and of all alignments.
  void go_forward() {
    forward_.assign(static_cast<std::size_t>(x_.steps) * count(), impossible);
    if (x_.steps == 0) {
      whole_ = count() == 1 ? 0 : impossible;
      return;
    }
    for (std::size_t s = 0; s < std::min<std::size_t>(2, count()); ++s) forward(0)[s] = score(0, s);
    for (std::int64_t step = 1; step < x_.steps; ++step) {
      const double* const before = forward(step - 1);
      for (std::size_t s = 0; s < count(); ++s) {
        double sum = s > 0 ? log_sum(before[s], before[s - 1]) : before[s];
        if (may_skip_to(s)) sum = log_sum(sum, before[s - 2]);
        forward(step)[s] = sum + score(step, s);
      }
    }
    const double* const last = forward(x_.steps - 1);
    whole_ = count() == 1 ? last[0] : log_sum(last[count() - 1], last[count() - 2]);
  }
  // Makes of the probabilities to end well from each state of step + 1, its own score among them, those of a step
  // without its score. They are in backward_ then, and in next_ with it.
  void go_back(std::int64_t step) {
    backward_.assign(count(), impossible);
    for (std::size_t s = 0; s < count(); ++s)
      if (step == x_.steps - 1)
        backward_[s] = s + 2 >= count() ? 0 : impossible;
      else
        backward_[s] = sum_behind(s);
    for (std::size_t s = 0; s < count(); ++s) next_[s] = backward_[s] + score(step, s);
  }
  double sum_behind(std::size_t state) const {
    double sum = next_[state];
    if (state + 1 < count()) sum = log_sum(sum, next_[state + 1]);
    if (state + 2 < count() && may_skip_to(state + 2)) sum = log_sum(sum, next_[state + 2]);
    return sum;
  }
  void write_step(std::int64_t step, T* to) {
    if (whole_ == impossible) {
      std::fill_n(to, x_.classes, T(0));
      return;
    }
    slopes_.resize(static_cast<std::size_t>(x_.classes));
    const T* const x = x_.at(step);
    for (std::size_t k = 0; k < slopes_.size(); ++k)
      slopes_[k] = std::exp(static_cast<double>(x[k]) - totals_[static_cast<std::size_t>(step)]);
    for (std::size_t s = 0; s < count(); ++s)
      slopes_[static_cast<std::size_t>(states_[s])] -= std::exp(forward(step)[s] + backward_[s] - whole_);
    for (std::size_t k = 0; k < slopes_.size(); ++k) to[k] = static_cast<T>(slopes_[k]);
  }

  logits_of_row<T> x_{};
  std::vector<std::int64_t> states_;                                 // the class of each state
  std::vector<double> totals_, forward_, backward_, next_, slopes_;  // of steps; steps and states; states; classes
  double whole_ = 0;
};

}}}}}  // namespace pinion::v0::op::detail::ctc
