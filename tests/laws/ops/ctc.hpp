// Connectionist temporal classification, by all paths one by one.
#pragma once

#include "laws/row.hpp"

namespace laws {

// A row of a CTCLoss: its logits as probabilities, and its labels.
struct ctc_row_of {
  std::size_t classes, blank;
  std::vector<std::vector<double>> steps;  // the probabilities of each step
  std::vector<std::size_t> labels;

  // The labels that a path says: no class twice in a row, and no blank.
  std::vector<std::size_t> said_by(const std::vector<std::size_t>& path) const {
    std::vector<std::size_t> all;
    for (std::size_t t = 0; t < path.size(); ++t)
      if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) all.push_back(path[t]);
    return all;
  }
  // Adds the probabilities of the paths that say the labels: of all, and of those through each class at each step.
  double add_paths(std::vector<std::vector<double>>& through) const {
    double whole = 0;
    std::vector<std::size_t> path(steps.size());
    for (bool more = true; more;) {
      if (said_by(path) == labels) {
        double one = 1;
        for (std::size_t t = 0; t < path.size(); ++t) one *= steps[t][path[t]];
        for (std::size_t t = 0; t < path.size(); ++t) through[t][path[t]] += one;
        whole += one;
      }
      more = false;
      for (std::size_t t = 0; t < path.size() && !more; ++t) {
        more = ++path[t] < classes;
        if (!more) path[t] = 0;
      }
    }
    return whole;
  }
};

inline std::vector<double> probabilities_of(const std::vector<double>& x, std::size_t at, std::size_t classes) {
  std::vector<double> all;
  double sum = 0, most = *std::max_element(x.begin() + static_cast<std::ptrdiff_t>(at),
                                           x.begin() + static_cast<std::ptrdiff_t>(at + classes));
  for (std::size_t k = 0; k < classes; ++k) all.push_back(std::exp(x[at + k] - most)), sum += all.back();
  for (double& p : all) p /= sum;
  return all;
}

inline std::optional<expectation> ctc_loss_reference(const call& c, const tensors& in) {
  const shape& logits = c.inputs[1].shape();
  const auto steps = static_cast<std::size_t>(logits[0]), batch = static_cast<std::size_t>(logits[1]),
             classes = static_cast<std::size_t>(logits[2]), most = static_cast<std::size_t>(c.inputs[0].shape()[1]);
  const auto given = c.attrs.get<std::int64_t>("blank");
  const bool of_labels = c.attrs.get_or("label_lengths", false), of_logits = c.attrs.get_or("logit_lengths", false);
  std::vector<double> losses, slopes(steps * batch * classes);
  for (std::size_t row = 0; row < batch; ++row) {
    ctc_row_of one{classes, static_cast<std::size_t>(given < 0 ? given + logits[2] : given), {}, {}};
    const std::size_t length = of_labels ? static_cast<std::size_t>(in[2][row]) : most;
    const std::size_t time = of_logits ? static_cast<std::size_t>(in[of_labels ? 3 : 2][row]) : steps;
    for (std::size_t i = 0; i < length; ++i) one.labels.push_back(static_cast<std::size_t>(in[0][row * most + i]));
    for (std::size_t t = 0; t < time; ++t)
      one.steps.push_back(probabilities_of(in[1], (t * batch + row) * classes, classes));
    std::vector<std::vector<double>> through(time, std::vector<double>(classes));
    const double whole = one.add_paths(through);
    losses.push_back(whole == 0 && c.attrs.get_or("zero_infinity", false) ? 0 : -std::log(whole));
    for (std::size_t t = 0; t < time && whole != 0; ++t)
      for (std::size_t k = 0; k < classes; ++k)
        slopes[(t * batch + row) * classes + k] = one.steps[t][k] - through[t][k] / whole;
  }
  const bool known = are_tame(in);
  return expectation{{near(losses, c.inputs[1].dtype(), 512, known), near(slopes, c.inputs[1].dtype(), 512, known)}};
}

inline std::vector<sample> ctc_loss_samples(std::string_view, std::int64_t m, std::int64_t) {
  std::vector<sample> all;
  const auto add = [&](std::string note, const shape& logits, std::int64_t most, attributes attrs) {
    const auto classes = static_cast<double>(logits[2]);
    const bool last = attrs.get<std::int64_t>("blank") < 0;
    all.push_back(
        {std::move(note),
         {{{logits[1], most}, last ? role::index32 : role::index64, last ? 0. : 1., classes - last}, {logits}},
         plain(attrs)});
    if (attrs.has("label_lengths"))
      all.back().inputs.push_back({{logits[1]}, role::index32, 0, static_cast<double>(most + 1)});
    if (attrs.has("logit_lengths"))  // two labels need up to three steps
      all.back().inputs.push_back({{logits[1]}, role::index64, 3, static_cast<double>(logits[0] + 1)});
  };
  const std::int64_t first = 0, last = -1;
  add("all labels of all steps", {4, m, 3}, 2, {{"blank", first}});
  add("lengths of labels", {4, m, 3}, 2, {{"blank", last}, {"label_lengths", true}});
  add("lengths of steps", {5, m, 3}, 2, {{"blank", first}, {"logit_lengths", true}});
  add("both lengths", {5, 3, 4}, 2, {{"blank", first}, {"label_lengths", true}, {"logit_lengths", true}});
  add("no labels", {3, 2, 2}, 0, {{"blank", first}});
  add("one step", {1, m, 4}, 1, {{"blank", last}});
  add("more labels than steps", {2, 3, 4}, 3, {{"blank", first}, {"zero_infinity", true}});
  add("an infinite loss", {2, 3, 4}, 3, {{"blank", first}});
  all.back().smooth = false;
  add("no steps", {0, 2, 3}, 0, {{"blank", first}});
  add("no rows", {3, 0, 3}, 2, {{"blank", first}, {"label_lengths", true}});
  return all;
}

inline row ctc_loss_row() {
  const attributes blank{{"blank", std::int64_t{0}}}, most{{"blank", std::int64_t{3}}};
  const attributes lengths{{"blank", std::int64_t{0}}, {"label_lengths", true}};
  return {{"CTCLoss"},
          ctc_loss_samples,
          ctc_loss_reference,
          {{"CTCLoss", {f({2, 3}), f({4, 2, 3})}, blank, "the labels of float"},
           {"CTCLoss", {i({2, 3}), i({4, 2, 3})}, blank, "logits of int32"},
           {"CTCLoss", {i({2}), f({4, 2, 3})}, blank, "the labels"},
           {"CTCLoss", {i({2, 3}), f({2, 3})}, blank, "the logits"},
           {"CTCLoss", {i({3, 3}), f({4, 2, 3})}, blank, "labels of shape [3, 3] have 3 rows where the logits have 2"},
           {"CTCLoss", {i({2, 3}), f({4, 2, 3})}, most, "the blank 3 is none of 3 classes"},
           {"CTCLoss", {i({2, 3}), f({4, 2, 3})}, lengths, "of 2 inputs, with attributes for 1 lengths"},
           {"CTCLoss", {i({2, 3}), f({4, 2, 3}), i({2})}, blank, "of 3 inputs, with attributes for 0 lengths"},
           {"CTCLoss", {i({2, 3}), f({4, 2, 3}), f({2})}, lengths, "the lengths of float"},
           {"CTCLoss", {i({2, 3}), f({4, 2, 3}), i({3})}, lengths, "[3] have 3 rows"}}};
}

inline row ctc_loss_gradient_row() {
  return {
      {"CTCLossGrad"},
      [](std::string_view, std::int64_t m, std::int64_t n) -> std::vector<sample> {
        return {{"rows", {{{m}}, {{3, m, n}}}}, {"no steps", {{{m}}, {{0, m, n}}}}, {"no rows", {{{0}}, {{3, 0, n}}}}};
      },
      [](const call& c, const tensors& in) -> std::optional<expectation> {
        const shape& s = c.inputs[1].shape();
        std::vector<ranged> all;
        for (std::size_t at = 0; at < in[1].size(); ++at) {
          const double factor = in[0][at / static_cast<std::size_t>(s[2]) % static_cast<std::size_t>(s[1])];
          all.push_back({in[1][at] * factor, 0});
        }
        return expectation{{all}};
      },
      {{"CTCLossGrad", {f({3}), f({4, 2, 3})}, {}, "[3] have 3 rows"},
       {"CTCLossGrad", {d({2}), f({4, 2, 3})}, {}, "a gradient of double for losses of float"},
       {"CTCLossGrad", {i({2}), i({4, 2, 3})}, {}, "int32"},
       {"CTCLossGrad", {f({2}), f({2, 3})}, {}, "the gradient of the logits"}}};
}

inline std::optional<expectation> ctc_decoder_reference(const call& c, const tensors& in) {
  const shape& logits = c.inputs[0].shape();
  const auto steps = static_cast<std::size_t>(logits[0]), batch = static_cast<std::size_t>(logits[1]),
             classes = static_cast<std::size_t>(logits[2]);
  const auto given = c.attrs.get<std::int64_t>("blank");
  const auto blank = static_cast<std::size_t>(given < 0 ? given + logits[2] : given);
  std::vector<double> labels(batch * steps, -1), counts(batch);
  std::vector<ranged> scores;
  for (std::size_t row = 0; row < batch; ++row) {
    const std::size_t time = in.size() > 1 ? static_cast<std::size_t>(in[1][row]) : steps;
    double score = 0, size = 0;
    std::size_t before = classes, n = 0;
    for (std::size_t t = 0; t < time; ++t) {
      const std::size_t at = (t * batch + row) * classes;
      std::size_t best = 0;
      for (std::size_t k = 1; k < classes; ++k)
        if (in[0][at + k] > in[0][at + best]) best = k;
      score -= in[0][at + best], size += std::abs(in[0][at + best]);
      const bool again = c.attrs.get_or("merge_repeated", false) && best == before;
      if (best != blank && !again) labels[row * steps + n++] = static_cast<double>(best);
      before = best;
    }
    counts[row] = static_cast<double>(n);
    scores.push_back(rounded(c.inputs[0].dtype(), score, size, static_cast<double>(time)));
  }
  return expectation{{exactly(labels), exactly(counts), scores}};
}

inline row ctc_decoder_row() {
  const attributes blank{{"blank", std::int64_t{-1}}}, most{{"blank", std::int64_t{3}}};
  const attributes merged{{"blank", std::int64_t{0}}, {"merge_repeated", true}};
  return {{"CTCGreedyDecoder"},
          [=](std::string_view, std::int64_t m, std::int64_t) -> std::vector<sample> {
            return {{"all steps", {{{9, m, 2}}}, plain(merged)},
                    {"repeated ones stay", {{{6, m, 3}}}, plain(blank)},
                    {"lengths", {{{6, m, 3}}, {{m}, role::index32, 0, 7}}, plain(merged)},
                    {"lengths of int64", {{{6, m, 3}}, {{m}, role::index64, 0, 7}}, plain(blank)},
                    {"no steps", {{{0, 2, 3}}}, plain(blank)},
                    {"no rows", {{{3, 0, 3}}}, plain(merged)}};
          },
          ctc_decoder_reference,
          {{"CTCGreedyDecoder", {f({2, 3})}, blank, "the logits"},
           {"CTCGreedyDecoder", {i({4, 2, 3})}, blank, "logits of int32"},
           {"CTCGreedyDecoder", {f({4, 2, 3})}, most, "the blank 3 is none of 3 classes"},
           {"CTCGreedyDecoder", {f({4, 2, 3}), i({3})}, blank, "[3] have 3 rows"},
           {"CTCGreedyDecoder", {f({4, 2, 3}), f({2})}, blank, "the lengths of float"}}};
}

inline std::vector<row> ctc_rows() {
  return {ctc_loss_row(), ctc_loss_gradient_row(), ctc_decoder_row()};
}

}  // namespace laws
