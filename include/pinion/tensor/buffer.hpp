// Reference-counted memory of a device, and the interface of allocators.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

class buffer;

// Gives memory of one device. Its device owns it through a shared pointer, and every buffer in use keeps it alive.
// Thread-safe. allocate() throws resource_exhausted if there is no memory left.
class allocator : public std::enable_shared_from_this<allocator> {
 public:
  virtual ~allocator() = default;
  // A buffer with one reference, whose data is aligned to 64 bytes. `holder` names who asks, such as a node, for
  // sentences about memory that runs out; memory without a limit keeps no account of holders.
  virtual buffer* allocate(std::size_t bytes, std::string_view holder = {}) = 0;
  // Somebody else holds a buffer in use from now on, such as a variable that took over a value.
  virtual void rename(buffer&, std::string_view) {}
  // Takes a buffer back when its last reference is gone. The buffer still holds this allocator: recycle() lets it leave
  // (buffer::leave_home), unless the buffer is kept to be handed out again. Work that was enqueued on the stream of the
  // allocator's own device may still use the memory, and no other work does; devices::device tells why.
  virtual void recycle(buffer* idle) noexcept = 0;
  // True if the host may read and write the memory.
  virtual bool is_host() const { return true; }
  // Memory like this for the copy that is made when somebody writes to a tensor that is shared; null: the host's heap.
  virtual buffer* allocate_for_copy(std::size_t) noexcept { return nullptr; }
};

// A block of memory that is shared by reference count. The holder of the only reference may write to it. The count is
// thread-safe; the bytes are not.
class buffer {
 public:
  buffer(void* data, std::size_t capacity) : data_(data), capacity_(capacity) {}
  void* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }
  // True if there is one reference, and its holder may write.
  bool unique() const { return references_.load(std::memory_order_acquire) == 1; }
  // The allocator that takes the buffer back.
  const std::shared_ptr<allocator>& home() const { return home_; }

  // Gives the buffer out with one reference and its allocator; the allocator calls it.
  void hand_out(std::shared_ptr<allocator> home);
  // Gives out a buffer that has not left its allocator since it was given out last.
  void hand_out_again() { references_.store(1, std::memory_order_relaxed); }
  // Ends the buffer's hold on its allocator, which the caller then holds.
  std::shared_ptr<allocator> leave_home() { return std::move(home_); }
  // Lets a buffer that is not given out stand for other memory.
  void stand_for(void* data, std::size_t capacity) { data_ = data, capacity_ = capacity; }
  // Adds a reference.
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  // Gives the buffer out as hand_out() does, but its memory is another's: no holder may write to it.
  void lend(std::shared_ptr<allocator> home);
  // Drops a reference; with the last one, the buffer goes back to its allocator.
  void release() noexcept;

 private:
  static constexpr int lent = 1 << 30;  // is added to the references of a buffer that nobody may write to

  void* data_;
  std::size_t capacity_;
  std::atomic<int> references_{0};
  std::shared_ptr<allocator> home_;
};

// One reference to a buffer, or none. Distinct objects may be used from distinct threads.
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

// Allocates from the heap of the host, for literals and for tensors that users make. There is one, which lives as long
// as the process.
class heap_allocator final : public allocator {
 public:
  static const std::shared_ptr<allocator>& instance();
  buffer* allocate(std::size_t bytes, std::string_view) override;
  void recycle(buffer* idle) noexcept override;

 private:
  heap_allocator() = default;
};

// Throws resource_exhausted: the host has no memory for a tensor of so many bytes.
[[noreturn]] void throw_no_memory(std::size_t bytes);

// A buffer for bytes that belong to another and that nobody here writes; it holds them until its last reference is
// gone.
buffer_ref make_lent_buffer(std::shared_ptr<std::byte> bytes, std::size_t size);

// A buffer of host memory with `count` empty std::string elements, which it constructs and destroys. Throws
// resource_exhausted.
buffer_ref make_text_buffer(std::size_t count);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/tensor/buffer.ipp>
#endif
