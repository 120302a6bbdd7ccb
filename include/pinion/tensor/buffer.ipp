// Bodies of <pinion/tensor/buffer.hpp>.
#pragma once

#include <new>
#include <string>

#include <pinion/base/error.hpp>
#include <pinion/tensor/buffer.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL void buffer::hand_out(std::shared_ptr<allocator> home) {
  home_ = std::move(home);
  references_.store(1, std::memory_order_relaxed);
}

PINION_DECL void buffer::release() noexcept {
  // The holder of the only reference needs no atomic write, which is the most of what letting go costs.
  if (unique() || references_.fetch_sub(1, std::memory_order_acq_rel) == 1) home_->recycle(this);
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
  static const std::shared_ptr<allocator> heap = std::make_shared<heap_allocator>();
  return heap;
}

PINION_DECL buffer* heap_allocator::allocate(std::size_t bytes) {
  void* data = ::operator new (bytes ? bytes : 1, std::align_val_t{64}, std::nothrow);
  if (!data) throw error(errc::resource_exhausted, "no memory for a tensor of " + std::to_string(bytes) + " bytes");
  auto* b = new buffer(data, bytes);
  b->hand_out(shared_from_this());
  return b;
}

PINION_DECL void heap_allocator::recycle(buffer* idle) noexcept {
  const auto self = idle->leave_home();
  ::operator delete (idle->data(), std::align_val_t{64});
  delete idle;
}

}}  // namespace pinion::v0
