// Kernels of connectionist temporal classification. A row is computed by one thread.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <pinion/op/ctc/alignment.hpp>
#include <pinion/op/ctc/op.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace ctc {

constexpr std::int64_t work_of_class = 16, work_of_state = 64;  // in elements that are only copied

// The extents of logits, and the class of the blank.
struct extents {
  std::int64_t steps, batch, classes, blank;

  extents(const shape& logits, std::int64_t of_blank) {
    if (logits.rank() != 3)
      throw error(errc::invalid_argument,
                  "logits of shape " + to_string(logits) + " where [time, batch, classes] fits");
    steps = logits[0], batch = logits[1], classes = logits[2];
    blank = of_blank < 0 ? of_blank + classes : of_blank;
    if (blank < 0 || blank >= classes)
      throw error(errc::invalid_argument,
                  "the blank " + std::to_string(of_blank) + " is none of " + std::to_string(classes) + " classes");
  }
};

inline void expect_shape(const any_tensor& x, const shape& wanted, const char* what) {
  if (!(x.shape() == wanted))
    throw error(errc::invalid_argument,
                std::string(what) + " of shape " + to_string(x.shape()) + " where " + to_string(wanted) + " fits");
}

inline std::int64_t integer_at(const any_tensor& x, std::int64_t i) {
  return x.dtype() == dtype::int32 ? std::int64_t{x.data<std::int32_t>()[i]} : x.data<std::int64_t>()[i];
}

// The length of each row; `most` without lengths.
inline std::vector<std::int64_t> read_lengths(const any_tensor& lengths, std::int64_t batch, std::int64_t most,
                                              const char* what) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(batch), most);
  for (std::int64_t row = 0; row < batch && !lengths.empty(); ++row) {
    const std::int64_t n = integer_at(lengths, row);
    if (n < 0 || n > most)
      throw error(errc::invalid_argument, std::string(what) + " " + std::to_string(n) + " of row " +
                                              std::to_string(row) + " is not in [0, " + std::to_string(most) + "]");
    all[static_cast<std::size_t>(row)] = n;
  }
  return all;
}

// The labels of a row that has so many.
inline std::vector<std::int64_t> read_labels(const any_tensor& labels, std::int64_t row, std::int64_t count,
                                             const extents& of) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < count; ++i) {
    all.push_back(integer_at(labels, row * labels.shape()[1] + i));
    if (all.back() < 0 || all.back() >= of.classes || all.back() == of.blank)
      throw error(errc::invalid_argument, "label " + std::to_string(all.back()) + " of row " + std::to_string(row) +
                                              " is none of " + std::to_string(of.classes) + " classes, or the blank " +
                                              std::to_string(of.blank));
  }
  return all;
}

// The tensors of a loss, and what it says of its inputs. Tensors that are not there are empty.
struct loss_tensors {
  any_tensor labels, logits, label_lengths, logit_lengths, loss, gradient;
};

// Writes the losses and gradients of rows from `first` up to `last`.
template <class T>
void write_losses(const loss_tensors& at, const extents& of, const std::vector<std::vector<std::int64_t>>& labels,
                  const std::vector<std::int64_t>& steps, bool zero_infinity, std::int64_t first, std::int64_t last) {
  alignments<T> all;
  for (std::int64_t row = first; row < last; ++row) {
    const auto i = static_cast<std::size_t>(row);
    const std::int64_t begin = row * of.classes, stride = of.batch * of.classes;
    const double loss = all.loss({at.logits.data<T>() + begin, stride, steps[i], of.classes}, labels[i], of.blank);
    at.loss.data<T>()[row] = static_cast<T>(zero_infinity && loss == -impossible ? 0 : loss);
    if (at.gradient.empty()) continue;
    T* const slopes = at.gradient.data<T>() + begin;
    all.write_gradient(slopes);
    for (std::int64_t step = steps[i]; step < of.steps; ++step) std::fill_n(slopes + step * stride, of.classes, T(0));
  }
}

template <class T>
void run_loss(kernel_context& c, const attributes& attrs) {
  const bool of_labels = attrs.get_or("label_lengths", false), of_logits = attrs.get_or("logit_lengths", false);
  loss_tensors at{c.input(0), c.input(1), {}, {}, {}, {}};
  if (of_labels) at.label_lengths = c.input(2);
  if (of_logits) at.logit_lengths = c.input(2 + of_labels);
  const extents of(at.logits.shape(), attrs.get<std::int64_t>("blank"));
  const std::int64_t most = at.labels.shape().rank() == 2 ? at.labels.shape()[1] : 0;
  expect_shape(at.labels, {of.batch, most}, "labels");
  if (of_labels) expect_shape(at.label_lengths, {of.batch}, "label lengths");
  if (of_logits) expect_shape(at.logit_lengths, {of.batch}, "logit lengths");
  at.loss = c.allocate(0, dtype_of<T>, {of.batch});
  if (c.wants(1)) at.gradient = c.allocate(1, dtype_of<T>, at.logits.shape());
  if (of.batch == 0) return;
  c.launch([=, zero_infinity = attrs.get_or("zero_infinity", false), services = c.services] {
    const auto counts = read_lengths(at.label_lengths, of.batch, most, "the label length");
    const auto steps = read_lengths(at.logit_lengths, of.batch, of.steps, "the logit length");
    std::vector<std::vector<std::int64_t>> labels;
    for (std::int64_t row = 0; row < of.batch; ++row)
      labels.push_back(read_labels(at.labels, row, counts[static_cast<std::size_t>(row)], of));
    const std::int64_t work = of.steps * (of.classes * work_of_class + (2 * most + 1) * work_of_state);
    in_ranges(*services, of.batch, work, [&](std::int64_t first, std::int64_t last) {
      write_losses<T>(at, of, labels, steps, zero_infinity, first, last);
    });
  });
}

template <class T>
void run_gradient(kernel_context& c) {
  const any_tensor dloss = c.input(0), x = c.input(1);
  const shape& s = x.shape();
  if (s.rank() != 3)
    throw error(errc::invalid_argument, "a gradient of shape " + to_string(s) + " where [time, batch, classes] fits");
  expect_shape(dloss, {s[1]}, "gradients of losses");
  const any_tensor y = c.reuse_or_allocate(0, 1, x.dtype(), s);
  if (y.count() == 0) return;
  c.launch([=, batch = s[1], classes = s[2], services = c.services] {
    in_ranges(*services, y.shape()[0] * batch, classes, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t at = first; at < last; ++at)
        for (std::int64_t i = at * classes; i < (at + 1) * classes; ++i)
          y.data<T>()[i] = x.data<T>()[i] * dloss.data<T>()[at % batch];
    });
  });
}

// The tensors of a decoder; the lengths of logits may be missing.
struct decoder_tensors {
  any_tensor logits, lengths, labels, counts, scores;
};

// Writes the labels, their number and the score of a row.
template <class T>
void decode_row(const decoder_tensors& at, const extents& of, std::int64_t row, std::int64_t steps, bool merge) {
  std::int64_t *const labels = at.labels.data<std::int64_t>() + row * of.steps, before = of.blank, n = 0;
  T score = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    const T* const x = at.logits.data<T>() + (step * of.batch + row) * of.classes;
    const std::int64_t best = std::max_element(x, x + of.classes) - x;
    score -= x[best];
    if (best != of.blank && !(merge && step > 0 && best == before)) labels[n++] = best;
    before = best;
  }
  std::fill(labels + n, labels + of.steps, -1);
  at.counts.data<std::int64_t>()[row] = n;
  at.scores.data<T>()[row] = score;
}

template <class T>
void run_decoder(kernel_context& c, const attributes& attrs, bool has_lengths) {
  decoder_tensors at{c.input(0), has_lengths ? c.input(1) : any_tensor{}, {}, {}, {}};
  const extents of(at.logits.shape(), attrs.get<std::int64_t>("blank"));
  if (has_lengths) expect_shape(at.lengths, {of.batch}, "lengths");
  at.labels = c.allocate(0, dtype::int64, {of.batch, of.steps});
  at.counts = c.allocate(1, dtype::int64, {of.batch});
  at.scores = c.allocate(2, dtype_of<T>, {of.batch, 1});
  c.launch([=, merge = attrs.get_or("merge_repeated", false), services = c.services] {
    const auto steps = read_lengths(at.lengths, of.batch, of.steps, "the length");
    in_ranges(*services, of.batch, of.steps * of.classes, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row)
        decode_row<T>(at, of, row, steps[static_cast<std::size_t>(row)], merge);
    });
  });
}

}}}}}  // namespace pinion::v0::op::detail::ctc

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(ctc_loss, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(1).dtype, [&]<class T>() {
    return make_function_kernel([&attrs = setup.attrs()](kernel_context& c) { detail::ctc::run_loss<T>(c, attrs); },
                                true);
  });
}
inline std::unique_ptr<kernel> make_kernel(ctc_loss_gradient, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(1).dtype, []<class T>() {
    return make_function_kernel([](kernel_context& c) { detail::ctc::run_gradient<T>(c); });
  });
}
inline std::unique_ptr<kernel> make_kernel(ctc_greedy_decoder, const kernel_setup& setup) {
  const bool has_lengths = setup.node.inputs.size() == 2;
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([&attrs = setup.attrs(), has_lengths](kernel_context& c) {
      detail::ctc::run_decoder<T>(c, attrs, has_lengths);
    });
  });
}

}}}  // namespace pinion::v0::op
