// Bodies of <pinion/graph/attribute.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/graph/attribute.hpp>
#include <pinion/graph/attribute_value.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL attribute::attribute(attribute_value value)
    : value_(std::make_shared<const attribute_value>(std::move(value))) {}
PINION_DECL attribute::attribute(flag value) : attribute(attribute_value{value.value}) {}
PINION_DECL attribute::attribute(std::int64_t value) : attribute(attribute_value{value}) {}
PINION_DECL attribute::attribute(double value) : attribute(attribute_value{value}) {}
PINION_DECL attribute::attribute(std::string value) : attribute(attribute_value{std::move(value)}) {}
PINION_DECL attribute::attribute(pinion::dtype value) : attribute(attribute_value{value}) {}
PINION_DECL attribute::attribute(pinion::shape value) : attribute(attribute_value{std::move(value)}) {}
PINION_DECL attribute::attribute(integers value) : attribute(attribute_value{std::move(value)}) {}
PINION_DECL attribute::attribute(any_tensor value) : attribute(attribute_value{std::move(value)}) {}
PINION_DECL attribute::attribute(std::shared_ptr<const scalar::program> value)
    : attribute(attribute_value{std::move(value)}) {}
PINION_DECL attribute::attribute(std::shared_ptr<const body> value) : attribute(attribute_value{std::move(value)}) {}

template <class T>
const T* attribute::get_if() const {
  return std::get_if<T>(&value_->held);
}

PINION_DECL std::size_t attribute::index() const {
  return value_->held.index();
}

PINION_DECL attributes::attributes() = default;
PINION_DECL attributes::attributes(const attributes&) = default;
PINION_DECL attributes::attributes(attributes&&) noexcept = default;
PINION_DECL attributes& attributes::operator=(const attributes&) = default;
PINION_DECL attributes& attributes::operator=(attributes&&) noexcept = default;
PINION_DECL attributes::~attributes() = default;

PINION_DECL attributes::attributes(std::initializer_list<item> items) {
  for (const item& i : items) set(i.name, i.value);
}

PINION_DECL void attributes::set(std::string_view name, attribute value) {
  const auto at = lower(name);
  if (at != items_.end() && at->name == name)
    at->value = std::move(value);
  else
    items_.insert(at, {std::string(name), std::move(value)});
}

PINION_DECL const attribute* attributes::find(std::string_view name) const {
  const auto at = const_cast<attributes*>(this)->lower(name);
  return at != items_.end() && at->name == name ? &at->value : nullptr;
}

PINION_DECL const attributes::entry* attributes::begin() const {
  return items_.data();
}

PINION_DECL const attributes::entry* attributes::end() const {
  return items_.data() + items_.size();
}

PINION_DECL void attributes::refuse(std::string_view name) {
  throw error(errc::internal, "attribute '" + std::string(name) + "' is missing or of another type");
}

PINION_DECL std::vector<attributes::entry>::iterator attributes::lower(std::string_view name) {
  return std::lower_bound(items_.begin(), items_.end(), name, [](const entry& e, auto n) { return e.name < n; });
}

#if !PINION_HEADER_ONLY
template const bool* attribute::get_if() const;
template const std::int64_t* attribute::get_if() const;
template const double* attribute::get_if() const;
template const std::string* attribute::get_if() const;
template const dtype* attribute::get_if() const;
template const shape* attribute::get_if() const;
template const integers* attribute::get_if() const;
template const any_tensor* attribute::get_if() const;
template const std::shared_ptr<const scalar::program>* attribute::get_if() const;
template const std::shared_ptr<const body>* attribute::get_if() const;
#endif

}}  // namespace pinion::v0
