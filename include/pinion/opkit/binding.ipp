// Bodies of <pinion/opkit/binding.hpp>.
#pragma once

#include <algorithm>
#include <cstring>
#include <new>

#include <pinion/opkit/binding.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

template <class Bits>
void repeat_element(std::byte* to, const void* element) {
  Bits value;
  std::memcpy(&value, element, sizeof value);
  for (std::int64_t i = 0; i < cell::copies; ++i)
    std::memcpy(to + static_cast<std::size_t>(i) * sizeof value, &value, sizeof value);
}

}  // namespace detail

PINION_DECL bool cell::fits(pinion::dtype type, const pinion::shape& extent) {
  if (type == pinion::dtype::invalid || type == pinion::dtype::string) return false;
  const std::int64_t n = extent.count();
  return n > 0 && n <= static_cast<std::int64_t>(most_bytes / size_of(type));
}

PINION_DECL bool cell::fits(const any_tensor& value) {
  return !value.empty() && fits(value.dtype(), value.shape());
}

PINION_DECL std::size_t cell::room() const {
  const std::int64_t whole = (shape.count() + copies - 1) / copies * copies;
  return (static_cast<std::size_t>(whole) * size_of(dtype) + 63) / 64 * 64;
}

PINION_DECL void cell::fill(const void* elements) const {
  if (!single()) return void(std::memmove(at, elements, bytes()));
  switch (size_of(dtype)) {
    case 1: return detail::repeat_element<std::uint8_t>(at, elements);
    case 2: return detail::repeat_element<std::uint16_t>(at, elements);
    case 4: return detail::repeat_element<std::uint32_t>(at, elements);
    default: return detail::repeat_element<std::uint64_t>(at, elements);
  }
}

PINION_DECL any_tensor cell::tensor(allocator& memory) const {
  any_tensor value(dtype, shape, memory);
  std::memcpy(value.raw(), at, bytes());
  return value;
}

PINION_DECL void cell_memory::aligned_delete::operator()(std::byte* block) const {
  ::operator delete[](block, std::align_val_t{64});
}

PINION_DECL void cell_memory::make(cell& p) {
  auto& idle = idle_[{p.dtype, p.room()}];
  if (idle.empty()) return make_fresh(p);
  p.at = idle.back();
  idle.pop_back();
}

PINION_DECL void cell_memory::make_fresh(cell& p) {
  const std::size_t room = p.room();
  if (left_ < room) {
    left_ = block_size_ = std::clamp<std::size_t>(2 * block_size_, cell::most_bytes, std::size_t{64} << 10);
    blocks_.emplace_back(static_cast<std::byte*>(::operator new[](block_size_, std::align_val_t{64})));
    std::memset(blocks_.back().get(), 0, block_size_);
  }
  p.at = blocks_.back().get() + (block_size_ - left_);
  left_ -= room;
}

PINION_DECL void cell_memory::give_back(const cell& p) {
  idle_[{p.dtype, p.room()}].push_back(p.at);
}

PINION_DECL bool binding::make(int i, dtype type, const shape& extent) {
  if (!cell::fits(type, extent)) return false;
  cell& p = outputs_[static_cast<std::size_t>(i)];
  p = {type, extent};
  memory_.make(p);
  return true;
}

PINION_DECL bool binding::constant(int i, const any_tensor& value) {
  if (!cell::fits(value)) return false;
  cell& p = outputs_[static_cast<std::size_t>(i)];
  p = {.dtype = value.dtype(), .shape = value.shape(), .lasting = true};
  memory_.make_fresh(p);
  p.fill(value.raw());
  return true;
}

}}  // namespace pinion::v0
