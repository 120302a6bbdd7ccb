// Bodies of <pinion/op/einsum/functions.hpp>.
#pragma once

#include <algorithm>
#include <string>

#include <pinion/op/einsum/equation.hpp>
#include <pinion/op/einsum/functions.hpp>
#include <pinion/op/layout/op.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL output make_product(graph& g, output a, output b, const matmul_options& options, source_location where) {
  const auto may_be_batched = [&](output x) {
    const shape& of = g.type_of(x).shape;
    return !of.has_rank() || of.rank() > 2;
  };
  if (may_be_batched(a) || may_be_batched(b))
    return make_node(g, op::batch_matmul::name, options.name, where,
                     {{"adj_x", options.transpose_a}, {"adj_y", options.transpose_b}}, {a, b});
  return make_node(g, op::matmul::name, options.name, where,
                   {{"transpose_a", options.transpose_a}, {"transpose_b", options.transpose_b}}, {a, b});
}

namespace detail {

// The operands of an einsum that are not contracted yet.
class open_einsum {
 public:
  open_einsum(op::detail::einsum_equation equation, const std::vector<any_expr>& operands, source_location where)
      : terms_(std::move(equation.operands)), result_(std::move(equation.result)), operands_(operands), where_(where) {
    for (const any_expr& x : operands_) join_graph(graph_, x);
  }

  any_expr contract() {
    if (terms_.size() > 1)
      for (std::size_t i = 0; i < terms_.size(); ++i) sum_own_labels(i);
    while (terms_.size() > 2) {
      const auto [a, b] = smallest_pair();
      replace(a, b, needed(terms_[a] + terms_[b], a, b));
    }
    return make(terms_, result_, operands_);
  }

 private:
  // Those of some labels, each once, that the result has, or an operand other than a and b.
  std::string needed(const std::string& labels, std::size_t a, std::size_t b) const {
    std::string others = result_, once;
    for (std::size_t i = 0; i < terms_.size(); ++i)
      if (i != a && i != b) others += terms_[i];
    for (const char c : labels)
      if (others.find(c) != others.npos && once.find(c) == once.npos) once += c;
    return once;
  }

  void sum_own_labels(std::size_t i) {
    const std::string kept = needed(terms_[i], i, i);
    const bool sums =
        std::any_of(terms_[i].begin(), terms_[i].end(), [&](char c) { return kept.find(c) == kept.npos; });
    if (!sums) return;
    operands_[i] = make({terms_[i]}, kept, {operands_[i]});
    terms_[i] = kept;
  }

  // The number of elements of axes with those labels, where an unknown extent counts as 64.
  double elements(const std::string& term) const {
    op::detail::label_extents extents;
    for (std::size_t i = 0; i < terms_.size(); ++i) extents.add(terms_[i], operands_[i].shape());
    double product = 1;
    for (const std::int64_t extent : extents.shape_of(term).dims())
      product *= extent < 0 ? 64 : static_cast<double>(extent);
    return product;
  }

  // The pair whose product is smallest beside its operands: the greedy rule of opt_einsum (D. Smith and J. Gray, 2018).
  std::pair<std::size_t, std::size_t> smallest_pair() const {
    std::pair<std::size_t, std::size_t> best{0, 1};
    double least = 0;
    for (std::size_t a = 0; a < terms_.size(); ++a)
      for (std::size_t b = a + 1; b < terms_.size(); ++b) {
        const double grows = elements(needed(terms_[a] + terms_[b], a, b)) - elements(terms_[a]) - elements(terms_[b]);
        if (b == 1 || grows < least) best = {a, b}, least = grows;
      }
    return best;
  }

  void replace(std::size_t a, std::size_t b, const std::string& term) {
    operands_[a] = make({terms_[a], terms_[b]}, term, {operands_[a], operands_[b]});
    terms_[a] = term;
    operands_.erase(operands_.begin() + static_cast<std::ptrdiff_t>(b));
    terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(b));
  }

  // Whether the axes of one operand are to be permuted, and no more.
  static bool permutes(const std::string& term, const std::string& result) {
    const auto stands_once = [&](char c) { return c != '.' && std::count(term.begin(), term.end(), c) == 1; };
    return std::all_of(term.begin(), term.end(), stands_once) &&
           std::is_permutation(term.begin(), term.end(), result.begin(), result.end());
  }

  any_expr make_transpose(const std::string& term, const std::string& result, const any_expr& x) const {
    integers permutation;
    for (const char c : result) permutation.push_back(static_cast<std::int64_t>(term.find(c)));
    return {*graph_,
            make_node(*graph_, op::transpose::name, {}, where_, {{"perm", permutation}}, {x.endpoint(*graph_)})};
  }

  any_expr make(std::vector<std::string> terms, const std::string& result, const std::vector<any_expr>& of) const {
    if (terms.size() == 1 && permutes(terms[0], result)) return make_transpose(terms[0], result, of[0]);
    std::vector<output> inputs;
    for (const any_expr& x : of) inputs.push_back(x.endpoint(*graph_));
    const std::string text = op::detail::einsum_equation{std::move(terms), result}.text();
    const node_id made = build(*graph_, {.op = op::einsum::name,
                                         .base_name = std::string(op::einsum::name),
                                         .inputs = std::move(inputs),
                                         .attrs = {{"equation", text}},
                                         .where = where_});
    return {*graph_, {made, 0}};
  }

  std::vector<std::string> terms_;
  std::string result_;
  std::vector<any_expr> operands_;
  source_location where_;
  graph* graph_ = nullptr;
};

}  // namespace detail

PINION_DECL any_expr make_einsum(const equation_text& equation, const std::vector<any_expr>& operands) try {
  op::detail::einsum_equation of = op::detail::einsum_equation::parse(equation.text);
  if (of.operands.size() != operands.size())
    throw error(errc::invalid_argument, "the equation \"" + of.text() + "\" is of " +
                                            std::to_string(of.operands.size()) + " operands, and " +
                                            std::to_string(operands.size()) + " are given");
  return detail::open_einsum(std::move(of), operands, equation.where).contract();
} catch (error& e) {
  e.called_at(to_string(equation.where));
  throw;
}

}}}  // namespace pinion::v0::dsl
