// The memory of the stand-in: the blocks of devices and of pinned memory, and what may be done with an address.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include <driver_types.h>

struct CUmemPoolHandle_st {
  CUmemPoolHandle_st(int of_device, std::size_t most_bytes) : device(of_device), most(most_bytes) {}

  const int device;
  const std::size_t most;     // bytes; 0: as many as the device has
  std::size_t threshold = 0;  // bytes that it keeps when somebody waits for its device
  std::size_t used = 0, reserved = 0, most_used = 0, most_reserved = 0;
  std::set<int> peers;  // devices whose kernels may use it
};

namespace fake_cuda {

struct memory_block {
  static constexpr int host = -1;

  std::byte* at;
  std::size_t size;
  int device;                          // or host, for pinned memory
  CUmemPoolHandle_st* pool = nullptr;  // of stream-ordered memory
  bool is_freed = false;               // its free was called, and may stand in a stream
  int copies = 0;                      // that stand in streams
};

// The blocks that live. Not safe to use from several threads: the machine's mutex guards it.
class address_book {
 public:
  // New memory, which holds nothing that could be meant (0xA5) once `poison_new` was called for it.
  memory_block& add(std::size_t size, int device, CUmemPoolHandle_st* pool = nullptr);
  // The block that holds an address, or ends at it; null if there is none.
  memory_block* find(const void* address);
  // The block that begins at an address; null if there is none.
  memory_block* beginning_at(const void* address);
  // Forgets a block, whose memory is gone. Reports what was written behind its end.
  void remove(memory_block& block);

  auto begin() const { return blocks_.begin(); }
  auto end() const { return blocks_.end(); }
  // The bytes that blocks on a device hold whose free was not called.
  std::size_t used(int device) const;
  // A pool is gone; its blocks live on.
  void leave(const CUmemPoolHandle_st& pool);
  void clear();

 private:
  std::map<const std::byte*, memory_block> blocks_;
};

void poison_new(void* at, std::size_t size);

// An address in words, for reports: the bytes from the beginning of its block and its device, or that it is of neither.
std::string describe(const memory_block* block, const void* address);

}  // namespace fake_cuda
