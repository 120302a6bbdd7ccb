// The attributes that nodes of an op may have, as its definition lists them: what is not listed is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/tensor/shape.hpp>

namespace pinion { inline namespace v0 {

// The type of an attribute, in the order of the types of attribute_value; a number is an integer or real.
enum class attribute_kind : unsigned char {
  flag,
  integer,
  real,
  text,
  dtype,
  shape,
  list,
  tensor,
  program,
  body,
  number
};

// What an op says of one of its attributes. A value, usable in constant expressions; the functions of namespace attr
// make it, and its own return a changed one: attr::integer("depth").between(0, 1000).optional().
struct attribute_rule {
  std::string_view name;
  attribute_kind kind = attribute_kind::flag;
  bool is_optional = false;
  bool is_numbered = false;
  bool is_rewrite = false;
  std::int64_t least = std::numeric_limits<std::int64_t>::min();  // an integer, or each one of a list
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::size_t longest = 0;  // the numbers of a list, or the bytes of a text

  // A node may lack it.
  constexpr attribute_rule optional() const {
    attribute_rule changed = *this;
    changed.is_optional = true;
    return changed;
  }
  // It stands for NAME0, NAME1, ... as many as a node has, none too.
  constexpr attribute_rule numbered() const {
    attribute_rule changed = optional();
    changed.is_numbered = true;
    return changed;
  }
  // Only the optimization of a step writes it, so no client's graph has it; a node may lack it.
  constexpr attribute_rule rewrite() const {
    attribute_rule changed = optional();
    changed.is_rewrite = true;
    return changed;
  }
  // The integer, or each of a list, is in [low, high].
  constexpr attribute_rule between(std::int64_t low, std::int64_t high) const {
    attribute_rule changed = *this;
    changed.least = low;
    changed.most = high;
    return changed;
  }
  // A list has at most so many numbers, and a text so many bytes. Otherwise it is one number for each axis that a
  // tensor can have, and 4096 bytes.
  constexpr attribute_rule up_to(std::size_t length) const {
    attribute_rule changed = *this;
    changed.longest = length;
    return changed;
  }

  // Tells whether the rule is that of an attribute with this name.
  constexpr bool is_of(std::string_view attribute) const {
    if (!is_numbered) return attribute == name;
    if (attribute.size() <= name.size() || attribute.substr(0, name.size()) != name) return false;
    return attribute.find_first_not_of("0123456789", name.size()) == attribute.npos;
  }
};

// The rules of an op's attributes, in any order; at most ten. A value, usable in constant expressions:
//
//   static constexpr pn::attribute_list attrs{pn::attr::integer("bins").between(1, 1000),
//                                             pn::attr::flag("log").optional()};
//
// An empty list says that nodes of the op have no attributes. A list of more than ten does not compile as a constant,
// and throws invalid_argument where it is none.
struct attribute_list {
  constexpr attribute_list() = default;
  constexpr attribute_list(std::initializer_list<attribute_rule> all) {
    for (const attribute_rule& rule : all) add(rule);
  }
  // These rules and those of another list.
  constexpr attribute_list operator+(const attribute_list& more) const {
    attribute_list all = *this;
    for (const attribute_rule& rule : more) all.add(rule);
    return all;
  }
  constexpr const attribute_rule* begin() const { return rules_; }
  constexpr const attribute_rule* end() const { return rules_ + size_; }
  // The rule of an attribute with this name, or null.
  constexpr const attribute_rule* find(std::string_view name) const {
    for (const attribute_rule& rule : *this)
      if (rule.is_of(name)) return &rule;
    return nullptr;
  }

 private:
  static constexpr int most = 10;
  constexpr void add(const attribute_rule& rule) {
    if (size_ == most) throw error(errc::invalid_argument, "an op lists at most ten attributes");
    rules_[size_++] = rule;
  }

  attribute_rule rules_[most];
  int size_ = 0;
};

// One function for each kind of attribute; it makes the rule of one that every node of the op has.
namespace attr {
constexpr attribute_rule flag(std::string_view name) {
  return {name, attribute_kind::flag};
}
constexpr attribute_rule integer(std::string_view name) {
  return {name, attribute_kind::integer};
}
constexpr attribute_rule real(std::string_view name) {
  return {name, attribute_kind::real};
}
constexpr attribute_rule number(std::string_view name) {
  return {name, attribute_kind::number};
}
constexpr attribute_rule text(std::string_view name) {
  return attribute_rule{name, attribute_kind::text}.up_to(4096);
}
constexpr attribute_rule dtype(std::string_view name) {
  return {name, attribute_kind::dtype};
}
constexpr attribute_rule shape(std::string_view name) {
  return {name, attribute_kind::shape};
}
constexpr attribute_rule integers(std::string_view name) {
  return attribute_rule{name, attribute_kind::list}.up_to(pinion::shape::max_rank);
}
constexpr attribute_rule tensor(std::string_view name) {
  return {name, attribute_kind::tensor};
}
constexpr attribute_rule program(std::string_view name) {
  return {name, attribute_kind::program};
}
constexpr attribute_rule body(std::string_view name) {
  return {name, attribute_kind::body};
}
// The key of a state in the task: ops that make a variable or another resource take both.
inline constexpr attribute_list state_key{text("container").optional(), text("shared_name").optional()};
}  // namespace attr

}}  // namespace pinion::v0
