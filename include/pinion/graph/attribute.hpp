// The attributes of a node: named values that are fixed when it is made.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/base/error.hpp>
#include <pinion/scalar/program.hpp>
#include <pinion/tensor/shape.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 {

struct attribute_value;  // defined in attribute_value.hpp
struct body;

using integers = std::vector<std::int64_t>;

// A value of one of a few types. Copies share the value, and nobody changes it, so it is as small as two pointers.
// attribute_value.hpp lists the types, so that code that only makes nodes compiles no variant.
class attribute {
 public:
  template <std::same_as<bool> B>  // a template, since pointers would convert to bool
  attribute(B value) : attribute(flag{value}) {}
  attribute(std::int64_t value);
  attribute(int value) : attribute(std::int64_t{value}) {}
  attribute(double value);
  attribute(std::string value);
  attribute(const char* value) : attribute(std::string(value)) {}
  attribute(pinion::dtype value);
  attribute(pinion::shape value);
  attribute(integers value);
  attribute(any_tensor value);
  attribute(std::shared_ptr<const scalar::program> value);
  attribute(std::shared_ptr<const body> value);
  explicit attribute(attribute_value value);

  // The value as a variant, whose definition is in attribute_value.hpp.
  const attribute_value& value() const { return *value_; }
  std::size_t index() const;  // of the held type within attribute_value
  // The value, or null where it holds another type. T is one of the types of attribute_value.
  template <class T>
  const T* get_if() const;

 private:
  struct flag {
    bool value;
  };
  explicit attribute(flag value);

  std::shared_ptr<const attribute_value> value_;
};

// A small map from names to values, sorted by name. A value. Its special members are out of line, so that code that
// only makes nodes compiles no variant.
class attributes {
 public:
  // One attribute in an initialiser: {{"axis", 1}, {"keep_dims", true}}.
  struct item {
    std::string_view name;
    attribute value;
  };
  struct entry {
    std::string name;
    attribute value;
  };

  attributes();
  attributes(std::initializer_list<item> items);
  attributes(const attributes&);
  attributes(attributes&&) noexcept;
  attributes& operator=(const attributes&);
  attributes& operator=(attributes&&) noexcept;
  ~attributes();

  // Sets an attribute, or replaces one of that name.
  void set(std::string_view name, attribute value);
  // The attribute of that name, or null.
  const attribute* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }

  // The value of an attribute that the op's definition promises. Throws internal where it is missing.
  template <class T>
  const T& get(std::string_view name) const {
    const attribute* a = find(name);
    const T* value = a ? a->get_if<T>() : nullptr;
    if (!value) refuse(name);
    return *value;
  }
  template <class T>
  T get_or(std::string_view name, T fallback) const {
    const attribute* a = find(name);
    const T* value = a ? a->get_if<T>() : nullptr;
    return value ? *value : fallback;
  }
  const entry* begin() const;
  const entry* end() const;

 private:
  [[noreturn]] static void refuse(std::string_view name);
  std::vector<entry>::iterator lower(std::string_view name);
  std::vector<entry> items_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/attribute.ipp>
#endif
