// Bodies of <pinion/opkit/definition.hpp>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include <pinion/graph/attribute_value.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

inline std::string name_of(attribute_kind kind) {
  constexpr const char* names[] = {"a bool",  "an integer",         "a double", "a text",    "a dtype",
                                   "a shape", "a list of integers", "a tensor", "a program", "a body",
                                   "a number"};
  return names[static_cast<std::size_t>(kind)];
}

inline bool is_of_kind(const attribute& a, attribute_kind kind) {
  const auto held = static_cast<attribute_kind>(a.index());
  if (kind == attribute_kind::number) return held == attribute_kind::integer || held == attribute_kind::real;
  return held == kind;
}

// A node's attribute beside its rule.
class attribute_check {
 public:
  attribute_check(const definition& def, const attributes::entry& given, const attribute_rule& rule)
      : def_(def), given_(given), rule_(rule) {}

  void run() const {
    if (!is_of_kind(given_.value, rule_.kind))
      fail("is " + name_of(static_cast<attribute_kind>(given_.value.index())) + ", not " + name_of(rule_.kind));
    std::visit([this](const auto& held) { check(held); }, given_.value.value().held);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw error(errc::invalid_argument, "attribute '" + given_.name + "' of " + std::string(def_.name) + " " + why);
  }
  void check(bool) const {}
  void check(double) const {}
  void check(std::int64_t n) const {
    if (n < rule_.least || n > rule_.most)
      fail("is " + std::to_string(n) + "; it is from " + std::to_string(rule_.least) + " to " +
           std::to_string(rule_.most));
  }
  void check(const std::string& text) const { expect_length(text.size(), "bytes"); }
  void check(dtype type) const {
    if (!dtypes::all.has(type)) fail("is " + std::string(to_string(type)) + ", which no tensor has");
  }
  void check(const shape& extent) const {
    if (!countable(extent)) fail("is " + to_string(extent) + ", a shape that no memory holds");
  }
  void check(const integers& all) const {
    expect_length(all.size(), "numbers");
    for (const std::int64_t n : all) check(n);
  }
  void check(const any_tensor& t) const {
    if (!dtypes::all.has(t.dtype())) fail("is a tensor of " + std::string(to_string(t.dtype())));
  }
  void check(const std::shared_ptr<const scalar::program>& p) const { expect_there(p != nullptr); }
  void check(const std::shared_ptr<const body>& b) const { expect_there(b != nullptr); }

  void expect_there(bool is) const {
    if (!is) fail("is empty");
  }
  void expect_length(std::size_t length, const char* unit) const {
    if (length > rule_.longest)
      fail("has " + std::to_string(length) + " " + unit + "; " + std::to_string(rule_.longest) + " are the most");
  }

  const definition& def_;
  const attributes::entry& given_;
  const attribute_rule& rule_;
};

inline std::string names_of(const attribute_list& rules) {
  std::string all;
  for (const attribute_rule& rule : rules)
    all += (all.empty() ? "" : ", ") + std::string(rule.name) + (rule.is_numbered ? "0, ..." : "");
  return all.empty() ? "none" : all;
}

}  // namespace detail

PINION_DECL void check_attributes(const definition& def, const node& n) {
  if (!def.attrs) return;
  for (const auto& given : n.attrs) {
    const attribute_rule* const rule = def.attrs->find(given.name);
    if (!rule)
      throw error(errc::invalid_argument, std::string(def.name) + " has no attribute '" + given.name +
                                              "'; its attributes: " + detail::names_of(*def.attrs));
    detail::attribute_check(def, given, *rule).run();
  }
  for (const attribute_rule& rule : *def.attrs)
    if (!rule.is_optional && !n.attrs.has(rule.name))
      throw error(errc::invalid_argument, std::string(def.name) + " needs attribute '" + std::string(rule.name) +
                                              "', " + detail::name_of(rule.kind));
}

PINION_DECL void refuse_rewrite(const definition& def, const node& n) {
  if (def.rewrite)
    throw error(errc::invalid_argument,
                std::string(def.name) + " is made by the optimization of a step alone; a client's graph has none");
  if (!def.attrs) return;
  for (const auto& given : n.attrs)
    if (const attribute_rule* const rule = def.attrs->find(given.name); rule && rule->is_rewrite)
      throw error(errc::invalid_argument, "attribute '" + given.name + "' of " + std::string(def.name) +
                                              " is written by the optimization of a step alone; a client's graph "
                                              "has none");
}

PINION_DECL void check_input_count(const definition& def, const node& n) {
  input_count takes = def.inputs;
  if (takes.says_program()) takes = n.attrs.get<std::shared_ptr<const scalar::program>>("program")->inputs;
  const int given = static_cast<int>(n.inputs.size());
  if (given >= takes.least && given <= takes.most) return;
  const bool exactly = takes.least == takes.most || given > takes.most;
  if (given > takes.most) takes.least = takes.most;
  throw error(errc::invalid_argument, std::string(def.name) + " takes " + (exactly ? "" : "at least ") +
                                          std::to_string(takes.least) + (takes.least == 1 ? " input" : " inputs") +
                                          ", not " + std::to_string(given));
}

PINION_DECL int states_of(const definition& def, const node& n) {
  if (def.states != states_of_attribute) return def.states;
  const std::int64_t given = n.attrs.get<std::int64_t>("states");
  if (given <= 0 || given >= static_cast<std::int64_t>(n.inputs.size()))
    throw error(errc::invalid_argument, std::string(def.name) + " has no state or no gradient");
  return static_cast<int>(given);
}

}}  // namespace pinion::v0
