// Bodies of <pinion/tensor/lent.hpp>, and of make_lent_buffer().
#pragma once

#include <cstring>
#include <memory>
#include <utility>

#include <pinion/base/process.hpp>
#include <pinion/tensor/lent.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

struct lent_buffer : buffer {
  lent_buffer(std::shared_ptr<std::byte> from, std::size_t size) : buffer(from.get(), size), bytes(std::move(from)) {}
  const std::shared_ptr<std::byte> bytes;
};

// Takes lent buffers back, and has none to give. It lives as long as the process.
class lent_buffers final : public allocator {
 public:
  static lent_buffers& instance() { return of_this_process<lent_buffers>(); }
  buffer* allocate(std::size_t bytes, std::string_view) override { throw_no_memory(bytes); }
  void recycle(buffer* idle) noexcept override { delete static_cast<lent_buffer*>(idle); }
};

}  // namespace detail

PINION_DECL buffer_ref make_lent_buffer(std::shared_ptr<std::byte> bytes, std::size_t size) {
  auto* const b = new detail::lent_buffer(std::move(bytes), size);
  b->lend(std::shared_ptr<allocator>(std::shared_ptr<void>(), &detail::lent_buffers::instance()));
  return buffer_ref(b);
}

PINION_DECL bool is_lent(const any_tensor& value) {
  return value && value.storage()->home().get() == &detail::lent_buffers::instance();
}

PINION_DECL any_tensor kept(any_tensor value, allocator& from) {
  if (!is_lent(value)) return value;
  any_tensor copy(value.dtype(), value.shape(), from);
  std::memcpy(copy.raw(), value.raw(), value.bytes());
  return copy;
}

}}  // namespace pinion::v0
