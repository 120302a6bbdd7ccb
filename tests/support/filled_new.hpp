// Fills what operator new gives out in this program with a byte, so that memory that nobody has written is told by its
// bits. It replaces the global functions, so that one file of a test program includes it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace filled_new {

inline std::atomic<int> byte{-1};  // -1: memory is given out as it is

inline void* filled(void* p, std::size_t n) noexcept {
  if (const int with = byte; p && with >= 0) std::memset(p, with, n);
  return p;
}
inline void* aligned(std::size_t n, std::align_val_t align) noexcept {
  void* p = nullptr;
  return ::posix_memalign(&p, static_cast<std::size_t>(align), n ? n : 1) == 0 ? filled(p, n) : nullptr;
}
inline void* or_throw(void* p) {
  return p ? p : throw std::bad_alloc();
}
// Not inlined, since a compiler that sees malloc and delete together warns of the mismatch.
[[gnu::noinline]] inline void returned(void* p) noexcept {
  std::free(p);
}

}  // namespace filled_new

void* operator new(std::size_t n) {
  return filled_new::or_throw(filled_new::filled(std::malloc(n ? n : 1), n));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return filled_new::filled(std::malloc(n ? n : 1), n);
}
void* operator new(std::size_t n, std::align_val_t align) {
  return filled_new::or_throw(filled_new::aligned(n, align));
}
void* operator new(std::size_t n, std::align_val_t align, const std::nothrow_t&) noexcept {
  return filled_new::aligned(n, align);
}
void operator delete(void* p) noexcept {
  filled_new::returned(p);
}
void operator delete(void* p, std::size_t) noexcept {
  filled_new::returned(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  filled_new::returned(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  filled_new::returned(p);
}
