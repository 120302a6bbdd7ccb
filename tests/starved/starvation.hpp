// What a test and the process that it starves share: which of the process's allocations fails.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

// Lies in a file that both have mapped.
struct starvation {
  std::atomic<std::int64_t> until{0};   // the allocation that fails, counted from now; 0 and below: none
  std::atomic<std::uint64_t> taken{0};  // allocations so far
  std::atomic<std::uint64_t> failed{0};

  // Requires: the file is empty, or was mapped before.
  static starvation& in(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0 || ::ftruncate(file, sizeof(starvation)) != 0) throw std::runtime_error("cannot open " + path);
    void* const at = ::mmap(nullptr, sizeof(starvation), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (at == MAP_FAILED) throw std::runtime_error("cannot map " + path);
    return *static_cast<starvation*>(at);  // zeros, which are a starvation
  }
};
