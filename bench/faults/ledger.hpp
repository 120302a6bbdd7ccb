// The ledger of a job: the steps that each worker was told are done. It is a file in the memory of all processes, so
// that a worker that is killed leaves it as it was.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

namespace faults {

inline constexpr int workers = 3;

// One worker's account. With each step the worker adds 1 to a variable of its own on the ps, and reads it: what the
// variable falls short of is lost, and what it is ahead was applied although the worker had heard of no success.
struct account {
  std::atomic<std::int64_t> accepted{0}, applied{0}, lost{0}, unheard{0};

  // Enters a step that succeeded, after which the variable has this value.
  void enter(std::int64_t now) {
    const std::int64_t expected = applied + 1;
    if (now < expected) lost += expected - now;
    if (now > expected) unheard += now - expected;
    applied = now;
    ++accepted;
  }
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

class ledger {
 public:
  explicit ledger(const std::string& file) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0 || ::ftruncate(descriptor, size) != 0) throw std::runtime_error("no ledger at " + file);
    memory_ = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    ::close(descriptor);
    if (memory_ == MAP_FAILED) throw std::runtime_error("cannot map " + file);
  }
  ledger(const ledger&) = delete;
  ~ledger() { ::munmap(memory_, size); }

  account& of(int worker) const { return static_cast<account*>(memory_)[worker]; }
  std::int64_t sum(std::atomic<std::int64_t> account::*which) const {
    std::int64_t all = 0;
    for (int w = 0; w < workers; ++w) all += of(w).*which;
    return all;
  }

 private:
  static constexpr std::size_t size = workers * sizeof(account);
  void* memory_;
};

}  // namespace faults
