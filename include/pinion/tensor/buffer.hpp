// Reference-counted memory with a place, and the interface of those who give it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

class buffer;

// Gives memory of one place. Owned by its device through shared pointers; every buffer in use keeps its allocator
// alive. Thread-safe. Fails by throwing error(resource_exhausted).
class allocator : public std::enable_shared_from_this<allocator> {
 public:
  virtual ~allocator() = default;
  virtual buffer* allocate(std::size_t bytes) = 0;  // one reference, aligned to 64 bytes
  virtual void recycle(buffer* idle) noexcept = 0;  // called when the last reference goes
  virtual bool is_host() const { return true; }     // may the host read and write the memory?
};

// A block of memory, shared by reference count. Whoever holds the only reference may write.
class buffer {
 public:
  buffer(void* data, std::size_t capacity) : data_(data), capacity_(capacity) {}
  void* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }
  bool unique() const { return references_.load(std::memory_order_acquire) == 1; }
  const std::shared_ptr<allocator>& home() const { return home_; }

  void hand_out(std::shared_ptr<allocator> home);
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept;

 private:
  void* data_;
  std::size_t capacity_;
  std::atomic<int> references_{0};
  std::shared_ptr<allocator> home_;
};

// One reference to a buffer.
class buffer_ref {
 public:
  buffer_ref() = default;
  explicit buffer_ref(buffer* adopted) : b_(adopted) {}
  buffer_ref(const buffer_ref& o);
  buffer_ref(buffer_ref&& o) noexcept : b_(std::exchange(o.b_, nullptr)) {}
  buffer_ref& operator=(buffer_ref o) noexcept;
  ~buffer_ref();
  buffer* operator->() const { return b_; }
  buffer* get() const { return b_; }
  explicit operator bool() const { return b_ != nullptr; }

 private:
  buffer* b_ = nullptr;
};

// Plain host memory, for literals and for tensors that users make.
class heap_allocator final : public allocator {
 public:
  static const std::shared_ptr<allocator>& instance();
  buffer* allocate(std::size_t bytes) override;
  void recycle(buffer* idle) noexcept override;
};

// Host memory that holds std::string elements, which need construction and destruction.
buffer_ref make_text_buffer(std::size_t count);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/tensor/buffer.ipp>
#endif
