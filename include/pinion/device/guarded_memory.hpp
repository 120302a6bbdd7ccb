// The memory of simulated GPUs, from which the host can be kept.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace devices {

// The guard that keeps the host from memory of simulated GPUs outside of launched bodies. A touch ends the program
// (SIGSEGV), as that of a real GPU's memory does.
enum class guard {
  none,
  pages,  // nobody reaches it while no body runs in the process
  keys    // only threads that run a body reach it: protection keys of the processor and of Linux
};

// Memory with a guard. Thread-safe. Lives longer than its blocks.
class guarded_memory {
 public:
  // That of all simulated GPUs of the process. The environment variable PINION_SIM_GUARD names its guard: "pages",
  // "keys", or none. Throws invalid_argument for another word, and failed_precondition for keys where there are none.
  static guarded_memory& of_sims();

  explicit guarded_memory(guard by);
  guarded_memory(const guarded_memory&) = delete;
  ~guarded_memory();
  // True where the processor and the system have a protection key left.
  static bool has_keys();

  // A block, aligned to 64 bytes; null: the system has no memory.
  void* allocate(std::size_t bytes);
  void free(void* block) noexcept;

  // Lets the calling thread reach the blocks for a scope.
  class access {
   public:
    explicit access(guarded_memory& of);
    access(const access&) = delete;
    ~access();

   private:
    guarded_memory& of_;
    const unsigned before_;
  };
  // True where the calling thread reaches the blocks and threads that help it would not.
  bool is_open_here_alone() const;

 private:
  unsigned enter();
  void leave(unsigned before) noexcept;
  void protect_all(int rights) noexcept;

  const guard by_;
  const int key_;  // -1: none
  std::mutex mutex_;
  std::map<void*, std::size_t> pages_;  // the blocks and their sizes; empty without a guard
  int open_ = 0;                        // accesses under way, where pages are guarded
};

}}}  // namespace pinion::v0::devices

#if PINION_HEADER_ONLY
#include <pinion/device/guarded_memory.ipp>
#endif
