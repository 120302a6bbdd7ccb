// The CPU as a device: host memory in size classes, and kernels that run in the calling thread.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include <pinion/device/device.hpp>

namespace pinion { inline namespace v0 { namespace devices {

// Allocates host memory and keeps returned blocks by size class, so that steps that repeat ask the system for none. The
// classes are the powers of two and the middles between them. Thread-safe: each class has a lock. Throws
// resource_exhausted if the system has no memory.
class pool_allocator final : public allocator {
 public:
  ~pool_allocator() override {
    for (auto& c : classes_)
      for (buffer* b : c.idle) destroy(b);
  }

  buffer* allocate(std::size_t bytes) override {
    const std::size_t index = class_of(bytes);
    buffer* b = classes_[index].take();
    if (!b) b = create(bytes_of(index));
    b->hand_out(shared_from_this());
    return b;
  }
  void recycle(buffer* idle) noexcept override {
    if (!classes_[class_of(idle->capacity())].keep(idle)) destroy(idle);
  }

 private:
  struct size_class {
    std::mutex mutex;
    std::vector<buffer*> idle;

    buffer* take() {
      std::lock_guard hold(mutex);
      if (idle.empty()) return nullptr;
      buffer* b = idle.back();
      idle.pop_back();
      return b;
    }
    bool keep(buffer* b) noexcept {
      try {
        std::lock_guard hold(mutex);
        idle.push_back(b);
        return true;
      } catch (...) {
        return false;
      }
    }
  };

  // The sizes of the classes are 64, 96, 128, 192, 256, ...
  static constexpr std::size_t smallest = 64;
  static std::size_t class_of(std::size_t bytes) {
    if (bytes <= smallest) return 0;
    const std::size_t top = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;  // bytes in (2^top, 2^(top+1)]
    const bool lower_half = bytes <= (std::size_t{3} << (top - 1));
    return 2 * (top - 6) + (lower_half ? 1 : 2);
  }
  static std::size_t bytes_of(std::size_t index) {
    const std::size_t base = smallest << (index / 2);
    return index % 2 ? base + base / 2 : base;
  }
  static buffer* create(std::size_t bytes) {
    void* data = ::operator new (bytes, std::align_val_t{64}, std::nothrow);
    if (!data) throw error(errc::resource_exhausted, "no memory for a tensor of " + std::to_string(bytes) + " bytes");
    return new buffer(data, bytes);
  }
  static void destroy(buffer* b) noexcept {
    ::operator delete (b->data(), std::align_val_t{64});
    delete b;
  }

  std::array<size_class, 128> classes_;
};

// One of the CPU devices of a task. All of them share the memory and the cores of the machine; several exist so that a
// placement over devices can be seen. Its functions are thread-safe.
class cpu_device final : public device {
 public:
  bool memory_is_limited() const override { return false; }
  // The size of its memory as TensorFlow reports it. It limits nothing.
  static constexpr std::int64_t nominal_memory = std::int64_t{256} << 20;

  explicit cpu_device(const device_spec& spec) : device(spec, nominal_memory, "") {}

  allocator& memory() override { return *pool(); }
  any_tensor from_host(const any_tensor& value) override { return value; }
  void to_host(const any_tensor& value, completion<any_tensor> done) override { done(value); }

 private:
  static const std::shared_ptr<pool_allocator>& pool() {
    static const auto shared = std::make_shared<pool_allocator>();
    return shared;
  }
};

}}}  // namespace pinion::v0::devices
