// Sums of products that equations name.
#pragma once

#include <map>

#include "laws/row.hpp"

namespace laws {

// The labels of the axes of a tensor in a term of an equation; those of an ellipsis are negative, -1 the last.
inline std::vector<int> labels_in(std::string term, int rank) {
  std::vector<int> all;
  const std::size_t at = term.find("...");
  if (at != term.npos) term.erase(at, 3);
  for (std::size_t i = 0; i <= term.size(); ++i) {
    if (i == at)
      for (int k = rank - static_cast<int>(term.size()); k > 0; --k) all.push_back(-k);
    if (i < term.size()) all.push_back(term[i]);
  }
  return all;
}

// Where the element of a tensor is at a place of all labels.
inline std::size_t element_at(const std::vector<int>& labels, const shape& of,
                              const std::map<int, std::int64_t>& place) {
  std::int64_t e = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::int64_t extent = of[static_cast<int>(i)];
    e = e * extent + (extent == 1 ? 0 : place.at(labels[i]));
  }
  return static_cast<std::size_t>(e);
}

// The equation of a node, in terms that are the operands' and, last, the result's.
inline std::vector<std::string> terms_of(const call& c) {
  if (c.op == "BatchMatMulV2")
    return {c.attrs.get_or("adj_x", false) ? "...km" : "...mk", c.attrs.get_or("adj_y", false) ? "...nk" : "...kn",
            "...mn"};
  std::string text = c.attrs.get<std::string>("equation");
  text.replace(text.find("->"), 2, ",");
  std::vector<std::string> terms;
  for (std::size_t comma; (comma = text.find(',')) != text.npos; text.erase(0, comma + 1))
    terms.push_back(text.substr(0, comma));
  terms.push_back(text);
  return terms;
}

// Adds the product at each place of the labels to the element of the result there. Where finite terms may overflow on
// the way, whose order is the library's, nothing is known.
inline std::optional<expectation> einsum_reference(const call& c, const tensors& x) {
  const auto terms = terms_of(c);
  std::vector<shape> shapes;
  for (const any_tensor& t : c.inputs) shapes.push_back(t.shape());
  std::map<int, std::int64_t> extents, place;
  std::vector<std::vector<int>> labels;
  const auto add_labels = [&](const shape& of) {
    labels.push_back(labels_in(terms[labels.size()], of.rank()));
    for (std::size_t i = 0; i < labels.back().size(); ++i) {
      const std::int64_t extent = of[static_cast<int>(i)];
      const auto [known, is_new] = extents.emplace(labels.back()[i], extent);
      if (!is_new && known->second == 1) known->second = extent;
    }
  };
  for (const shape& of : shapes) add_labels(of);
  const std::size_t operands = terms.size() - 1;
  if (c.op != "EinsumLike") {
    shape result;
    for (std::size_t i = 0; i < terms.back().size(); ++i)
      if (terms.back()[i] != '.')
        result.push_back(extents.at(terms.back()[i]));
      else if (i += 2; true)
        for (const auto& [label, extent] : extents)
          if (label < 0) result.push_back(extent);
    shapes.push_back(result);
    labels.push_back(labels_in(terms.back(), result.rank()));
  }
  std::int64_t places = 1;
  double most = 1;
  for (const auto& [label, extent] : extents) places *= extent, most *= static_cast<double>(extent);
  const auto elements = static_cast<std::size_t>(shapes.back().count());
  std::vector<double> sums(elements), sizes(elements);
  std::vector<bool> is_finite(elements, true);
  for (std::int64_t at = 0; at < places; ++at) {
    std::int64_t rest = at;
    for (const auto& [label, extent] : extents) place[label] = rest % extent, rest /= extent;
    const std::size_t e = element_at(labels.back(), shapes.back(), place);
    double product = 1;
    for (std::size_t i = 0; i < operands; ++i) {
      const double factor = x[i][element_at(labels[i], shapes[i], place)];
      product *= factor, is_finite[e] = is_finite[e] && std::isfinite(factor);
    }
    sums[e] += product, sizes[e] += std::abs(product);
  }
  std::vector<ranged> y;
  const dtype type = c.inputs[0].dtype();
  for (std::size_t e = 0; e < elements; ++e) {
    y.push_back(rounded(type, sums[e], sizes[e], most / static_cast<double>(elements) + 2));
    if (is_finite[e] && !(sizes[e] <= largest(type))) y.back().slack = std::numeric_limits<double>::infinity();
  }
  return expectation{{y}};
}

inline std::vector<sample> batched_samples(std::int64_t m, std::int64_t n) {
  std::vector<sample> all;
  const auto add = [&](std::string note, shape x, shape y, bool tx, bool ty) {
    all.push_back({std::move(note), {{x}, {y}}, plain({{"adj_x", tx}, {"adj_y", ty}})});
  };
  add("a batch", {3, m, 4}, {3, 4, n}, false, false);
  add("both turned", {2, 4, m}, {2, n, 4}, true, true);
  add("one matrix for all", {2, m, 4}, {4, n}, false, false);
  add("one turned matrix for all", {2, 4, m}, {n, 4}, true, true);
  add("one for all on the left", {4, m}, {3, 4, n}, true, false);
  add("broadcast both ways", {2, 1, m, 4}, {3, n, 4}, false, true);
  add("matrices", {m, 4}, {4, n}, false, false);
  add("no matrices", {0, m, 4}, {4, n}, false, false);
  add("no columns", {2, m, 4}, {2, 4, 0}, false, false);
  add("nothing inside", {2, m, 0}, {0, n}, false, false);
  return all;
}

inline attributes equation_of(std::string_view text) {
  return {{"equation", std::string(text)}};
}

inline std::vector<sample> einsum_samples(std::int64_t m, std::int64_t n) {
  std::vector<sample> all;
  const auto add = [&](std::string_view equation, std::vector<shape> operands) {
    std::vector<input> inputs;
    for (const shape& of : operands) inputs.push_back({of});
    all.push_back({std::string(equation), std::move(inputs), plain(equation_of(equation))});
  };
  add("ij,jk->ik", {{m, 4}, {4, n}});
  add("bqhd,bkhd->bhqk", {{2, m, 3, 4}, {2, n, 3, 4}});
  add("bhqk,bkhd->bqhd", {{2, 3, 4, m}, {2, m, 3, n}});
  add("ij,ij->ij", {{m, n}, {m, n}});
  add("ij,ij->i", {{m, n}, {m, n}});
  add("ij,ij->", {{m, n}, {m, n}});
  add("i,j->ji", {{m}, {n}});
  add("ijk,jil->kl", {{2, 3, m}, {3, 2, n}});
  add("ib,jb->ijb", {{4, n}, {3, n}});
  add("ij,k->k", {{m, 4}, {n}});
  add("ikb,jkb->ijb", {{m, 8, 3}, {n, 8, 3}});
  add("ikab,kjba->iabj", {{m, 9, 2, 2}, {9, n, 2, 2}});
  add("...i,...i->...", {{m, 1, n}, {4, n}});
  add("i...,j...->...", {{3, m}, {4, m}});
  add("ij->ji", {{m, n}});
  add("ij->j", {{m, n}});
  add("ii->i", {{n, n}});
  add("ii->", {{n, n}});
  add("iji,j->i", {{4, n, 4}, {n}});
  add("ij,jk->ik", {{m, 0}, {0, n}});
  add("ij,jk->ik", {{0, 4}, {4, n}});
  return all;
}

// Samples whose last input has the shape of the result.
inline std::vector<sample> einsum_like_samples(std::int64_t m, std::int64_t n) {
  std::vector<sample> all;
  const auto add = [&](std::string_view equation, std::vector<shape> inputs) {
    std::vector<input> given;
    for (const shape& of : inputs) given.push_back({of});
    all.push_back({std::string(equation), std::move(given), plain(equation_of(equation))});
  };
  add("...mk,...mn->...kn", {{3, m, 4}, {3, m, n}, {4, n}});
  add("...mk,...mn->...kn", {{2, 3, m, 4}, {3, m, n}, {3, 4, n}});
  add("...mn,...kn->...mk", {{2, 3, m, n}, {3, 4, n}, {2, 1, m, 4}});
  add("i->ii", {{n}, {n, n}});
  add("i->ij", {{m}, {m, n}});
  add("->...", {{}, {m, n}});
  add("i,j->iji", {{3}, {m}, {3, m, 3}});
  add("...,...->...", {{m, n}, {n}, {1, n}});
  add("...mk,...mn->...kn", {{0, m, 4}, {0, m, n}, {4, n}});
  return all;
}

inline row einsum_row() {
  return {{"BatchMatMulV2", "Einsum", "EinsumLike"},
          [](std::string_view op, std::int64_t m, std::int64_t n) {
            return op == "BatchMatMulV2" ? batched_samples(m, n)
                   : op == "Einsum"      ? einsum_samples(m, n)
                                         : einsum_like_samples(m, n);
          },
          einsum_reference,
          {{"BatchMatMulV2", {f({2, 3}), f({4, 2})}, {}, "axes 'k' have 3 and 4 elements"},
           {"BatchMatMulV2", {f({2, 2, 3}), f({3, 3, 2})}, {}, "axes of an ellipsis have 2 and 3 elements"},
           {"BatchMatMulV2", {f({2, 2, 3}), f({3})}, {}, "rank 2 or more"},
           {"BatchMatMulV2", {f({2, 2}), i({2, 2})}, {}, "float and int32"},
           {"BatchMatMulV2", {b({2, 2}), b({2, 2})}, {}, "BatchMatMulV2 of bool"},
           {"Einsum", {f({2, 3}), f({4, 2})}, equation_of("ij,jk->ik"), "axes 'j' have 3 and 4 elements"},
           {"Einsum", {f({2, 3}), f({3, 2})}, equation_of("ij->ij"), "of 1 operands, and there are 2"},
           {"Einsum", {f({2, 3})}, equation_of("ij->ik"), "an axis that no operand has"},
           {"Einsum", {f({2, 3})}, equation_of("ij->ii"), "has an axis twice"},
           {"Einsum", {f({2, 3})}, equation_of("ijk->ij"), "rank 2"},
           {"Einsum", {f({2, 3})}, equation_of("i1->i"), "has '1' in it"},
           {"Einsum", {f({2, 3})}, equation_of("......->i"), "two ellipses"},
           {"Einsum", {f({2, 3})}, equation_of("..i->i"), "has '.' in it"},
           {"Einsum", {b({2, 3})}, equation_of("ij->ji"), "Einsum of bool"},
           {"EinsumLike", {f({2, 3}), f({4})}, equation_of("ij->i"), "axes 'i' have 2 and 4 elements"},
           {"EinsumLike", {f({2, 3}), i({4})}, equation_of("ij,k->i"), "of 2 operands, and there are 1"}}};
}

inline std::vector<row> einsum_rows() {
  return {einsum_row()};
}

}  // namespace laws
