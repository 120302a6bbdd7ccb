// Bodies of <pinion/op/einsum/equation.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/error.hpp>
#include <pinion/op/einsum/equation.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace einsum {

inline bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

[[noreturn]] inline void refuse(std::string_view text, const std::string& why) {
  throw error(errc::invalid_argument,
              "the equation \"" + std::string(text) + "\" " + why +
                  "; one is written like \"bij,bjk->bik\", with letters, and \"...\" for any axes");
}

// The labels of one term, in which an ellipsis becomes a '.'.
inline std::string term_of(std::string_view text, std::string_view equation) {
  std::string term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    const bool is_ellipsis = text.substr(i, 3) == "...";
    if (!is_ellipsis && !is_letter(text[i])) refuse(equation, "has '" + std::string(1, text[i]) + "' in it");
    if (is_ellipsis && term.find('.') != term.npos) refuse(equation, "has two ellipses for one tensor");
    term += text[i];
    if (is_ellipsis) i += 2;
  }
  return term;
}

// The labels that stand once in the operands.
inline std::string implied_result(const std::vector<std::string>& operands) {
  std::string all, once;
  for (const std::string& term : operands) all += term;
  std::sort(all.begin(), all.end());  // the '.' of an ellipsis comes before letters
  for (const char c : all)
    if (once.find(c) == once.npos && (c == '.' || std::count(all.begin(), all.end(), c) == 1)) once += c;
  return once;
}

}}}}}  // namespace pinion::v0::op::detail::einsum

namespace pinion { inline namespace v0 { namespace op { namespace detail {

PINION_DECL einsum_equation einsum_equation::parse(std::string_view text) {
  const std::size_t arrow = text.find("->");
  einsum_equation of;
  for (std::string_view rest = text.substr(0, arrow);;) {
    const std::size_t comma = rest.find(',');
    of.operands.push_back(einsum::term_of(rest.substr(0, comma), text));
    if (comma == rest.npos) break;
    rest.remove_prefix(comma + 1);
  }
  of.result = arrow == text.npos ? einsum::implied_result(of.operands) : einsum::term_of(text.substr(arrow + 2), text);
  return of;
}

PINION_DECL std::string einsum_equation::text() const {
  std::string all;
  const auto add = [&](const std::string& term) {
    for (const char c : term) all += c == '.' ? "..." : std::string(1, c);
  };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) all += ',';
    add(operands[i]);
  }
  all += "->";
  add(result);
  return all;
}

PINION_DECL einsum_equation equation_of_einsum(const attributes& attrs) {
  return einsum_equation::parse(attrs.get<std::string>("equation"));
}

PINION_DECL einsum_equation equation_of_product(const attributes& attrs) {
  return {{attrs.get_or("adj_x", false) ? ".km" : ".mk", attrs.get_or("adj_y", false) ? ".nk" : ".kn"}, ".mn"};
}

PINION_DECL std::vector<int> labels_of(const std::string& term, int rank) {
  const bool has_ellipsis = term.find('.') != term.npos;
  const int letters = static_cast<int>(term.size()) - has_ellipsis;
  if (has_ellipsis ? rank < letters : rank != letters)
    throw error(errc::invalid_argument, "a tensor of rank " + std::to_string(rank) + " for \"" + term +
                                            "\", which has " + std::to_string(letters) +
                                            (has_ellipsis ? " axes or more" : " axes"));
  std::vector<int> labels;
  for (const char c : term)
    if (c != '.')
      labels.push_back(c);
    else
      for (int k = rank - letters; k > 0; --k) labels.push_back(-k);
  return labels;
}

PINION_DECL void label_extents::set(int label, std::int64_t extent) {
  const auto [at, is_new] = extents_.emplace(label, extent);
  if (is_new) return;
  const std::int64_t before = at->second;
  const bool may_broadcast = label < 0 && (before == 1 || extent == 1);
  if (before >= 0 && extent >= 0 && before != extent && !may_broadcast)
    throw error(
        errc::invalid_argument,
        (label < 0 ? std::string("axes of an ellipsis") : "axes '" + std::string(1, static_cast<char>(label)) + "'") +
            " have " + std::to_string(before) + " and " + std::to_string(extent) + " elements");
  if (label < 0 ? before == 1 || (before < 0 && extent > 1) : before < 0 && extent >= 0)
    at->second = extent;
  else if (label < 0 && before < 0 && extent < 0 && before != extent)
    at->second = unknown;
}

PINION_DECL void label_extents::add(const std::string& term, const shape& of) {
  if (!of.has_rank()) {
    if (term.find('.') != term.npos)
      some_unknown_ellipsis_ = true;
    else
      for (const char c : term) extents_.emplace(c, unknown);
    return;
  }
  const std::vector<int> labels = labels_of(term, of.rank());
  for (std::size_t i = 0; i < labels.size(); ++i) set(labels[i], of[static_cast<int>(i)]);
}

PINION_DECL shape label_extents::shape_of(const std::string& term) const {
  if (some_unknown_ellipsis_ && term.find('.') != term.npos) return shape::any();
  shape all;
  const auto extent = [&](int label) {
    const auto found = extents_.find(label);
    return found == extents_.end() ? unknown : found->second;
  };
  for (const char c : term)
    if (c != '.')
      all.push_back(extent(c));
    else
      for (auto at = extents_.begin(); at != extents_.end() && at->first < 0; ++at) all.push_back(at->second);
  return all;
}

PINION_DECL shape shape_of_einsum(const einsum_equation& equation, const std::vector<shape>& operands) {
  label_extents extents;
  for (std::size_t i = 0; i < operands.size(); ++i) extents.add(equation.operands[i], operands[i]);
  return extents.shape_of(equation.result);
}

}}}}  // namespace pinion::v0::op::detail
