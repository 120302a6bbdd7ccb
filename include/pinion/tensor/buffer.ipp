// Bodies of <pinion/tensor/buffer.hpp>.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include <pinion/base/error.hpp>
#include <pinion/base/process.hpp>
#include <pinion/tensor/buffer.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL void buffer::hand_out(std::shared_ptr<allocator> home) {
  home_ = std::move(home);
  references_.store(1, std::memory_order_relaxed);
}

PINION_DECL void buffer::lend(std::shared_ptr<allocator> home) {
  home_ = std::move(home);
  references_.store(lent + 1, std::memory_order_relaxed);
}

PINION_DECL void buffer::release() noexcept {
  // The holder of the only reference shares it with nobody, and need not count.
  if (!unique()) {
    const int had = references_.fetch_sub(1, std::memory_order_acq_rel);
    if (had != 1 && had != lent + 1) return;
  }
  home_->recycle(this);
}

PINION_DECL buffer_ref::buffer_ref(const buffer_ref& o) : b_(o.b_) {
  if (b_) b_->retain();
}

PINION_DECL buffer_ref& buffer_ref::operator=(buffer_ref o) noexcept {
  std::swap(b_, o.b_);
  return *this;
}

PINION_DECL buffer_ref::~buffer_ref() {
  if (b_) b_->release();
}

PINION_DECL const std::shared_ptr<allocator>& heap_allocator::instance() {
  struct shared {
    const std::shared_ptr<allocator> heap{new heap_allocator};
  };
  return of_this_process<shared>().heap;
}

// A buffer of the heap stands in front of its bytes, in one piece of memory. The piece is asked for without an
// alignment, since the C library takes twice as long for one.
PINION_DECL buffer* heap_allocator::allocate(std::size_t bytes, std::string_view) {
  constexpr std::size_t alignment = 64, most_before = sizeof(buffer) + alignment;
  auto* const piece = static_cast<std::byte*>(::operator new(most_before + bytes, std::nothrow));
  if (!piece) throw_no_memory(bytes);
  const auto before = alignment - reinterpret_cast<std::uintptr_t>(piece + sizeof(buffer)) % alignment;
  auto* const b = new (piece) buffer(piece + sizeof(buffer) + before, bytes);
  // It refers to the heap, which lives as long as the process, without a share, which would be counted.
  b->hand_out(std::shared_ptr<allocator>(std::shared_ptr<void>(), this));
  return b;
}

PINION_DECL void heap_allocator::recycle(buffer* idle) noexcept {
  std::destroy_at(idle);
  ::operator delete(static_cast<void*>(idle));
}

PINION_DECL void throw_no_memory(std::size_t bytes) {
  throw error(errc::resource_exhausted, "no memory for a tensor of " + std::to_string(bytes) + " bytes");
}

}}  // namespace pinion::v0
