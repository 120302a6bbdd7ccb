// Counts what operator new gives out in this program, and lets one call of it fail. It replaces the global functions,
// so that one file of a test program includes it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace counted_new {

inline std::atomic<std::size_t> calls{0}, bytes{0}, most_bytes{0};
// The calls of this thread; a library may still prepare itself in others.
inline thread_local std::size_t calls_here = 0;

// The calls of this thread before the one that fails; -1: none does.
inline thread_local long before_failure = -1;
// Calls a function during which the n-th call of operator new in this thread fails, counted from 0. Returns whether
// there were so many.
template <class F>
bool with_failure(long n, F&& f) {
  before_failure = n;
  f();
  const bool failed = before_failure < 0;
  before_failure = -1;
  return failed;
}

inline void* counted(void* p) noexcept {
  if (!p) return p;
  ++calls;
  ++calls_here;
  const std::size_t now = bytes += ::malloc_usable_size(p);
  if (now > most_bytes) most_bytes = now;
  return p;
}
inline void* aligned(std::size_t n, std::align_val_t align) noexcept {
  void* p = nullptr;
  return counted(::posix_memalign(&p, static_cast<std::size_t>(align), n ? n : 1) == 0 ? p : nullptr);
}
inline void* or_throw(void* p) {
  return p ? p : throw std::bad_alloc();
}
// Not inlined, since a compiler that sees malloc and delete together warns of the mismatch.
[[gnu::noinline]] inline void returned(void* p) noexcept {
  bytes -= ::malloc_usable_size(p);
  std::free(p);
}

}  // namespace counted_new

void* operator new(std::size_t n) {
  if (counted_new::before_failure >= 0 && counted_new::before_failure-- == 0) throw std::bad_alloc();
  return counted_new::or_throw(counted_new::counted(std::malloc(n ? n : 1)));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return counted_new::counted(std::malloc(n ? n : 1));
}
void* operator new(std::size_t n, std::align_val_t align) {
  return counted_new::or_throw(counted_new::aligned(n, align));
}
void* operator new(std::size_t n, std::align_val_t align, const std::nothrow_t&) noexcept {
  return counted_new::aligned(n, align);
}
void operator delete(void* p) noexcept {
  counted_new::returned(p);
}
void operator delete(void* p, std::size_t) noexcept {
  counted_new::returned(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  counted_new::returned(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  counted_new::returned(p);
}
