// Bodies of <pinion/device/guarded_memory.hpp>.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include <pinion/base/error.hpp>
#include <pinion/base/process.hpp>
#include <pinion/device/guarded_memory.hpp>

namespace pinion { inline namespace v0 { namespace devices {

namespace detail {

#ifdef PKEY_DISABLE_ACCESS
inline int new_key() {
  return ::pkey_alloc(0, PKEY_DISABLE_ACCESS);
}
inline void free_key(int key) {
  ::pkey_free(key);
}
inline int put_under_key(void* at, std::size_t bytes, int key) {
  return ::pkey_mprotect(at, bytes, PROT_READ | PROT_WRITE, key);
}
inline unsigned rights_of(int key) {
  return static_cast<unsigned>(::pkey_get(key));
}
inline void set_rights(int key, unsigned rights) {
  ::pkey_set(key, rights);
}
#else  // another system than Linux with the GNU library
inline int new_key() {
  return -1;
}
inline void free_key(int) {}
inline int put_under_key(void*, std::size_t, int) {
  return -1;
}
inline unsigned rights_of(int) {
  return 0;
}
inline void set_rights(int, unsigned) {}
#endif

inline std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

inline guard chosen_guard() {
  const char* const text = std::getenv("PINION_SIM_GUARD");
  const std::string_view word = text ? text : "";
  if (word.empty()) return guard::none;
  if (word == "pages") return guard::pages;
  if (word != "keys")
    throw error(errc::invalid_argument,
                "PINION_SIM_GUARD is '" + std::string(word) + "'; it can be 'pages' or 'keys', or not set");
  return guard::keys;
}

}  // namespace detail

PINION_DECL guarded_memory& guarded_memory::of_sims() {
  struct sim_memory {
    guarded_memory all{detail::chosen_guard()};
  };
  return of_this_process<sim_memory>().all;
}

PINION_DECL guarded_memory::guarded_memory(guard by) : by_(by), key_(by == guard::keys ? detail::new_key() : -1) {
  if (by_ == guard::keys && key_ < 0)
    throw error(
        errc::failed_precondition,
        "this machine has no protection key left for memory of simulated GPUs; pages can be guarded everywhere");
}

PINION_DECL guarded_memory::~guarded_memory() {
  if (key_ >= 0) detail::free_key(key_);
}

PINION_DECL bool guarded_memory::has_keys() {
  const int key = detail::new_key();
  if (key >= 0) detail::free_key(key);
  return key >= 0;
}

PINION_DECL void* guarded_memory::allocate(std::size_t bytes) {
  if (by_ == guard::none) return ::operator new (bytes, std::align_val_t{64}, std::nothrow);
  const std::size_t size = detail::whole_pages(bytes);
  std::lock_guard hold(mutex_);
  const bool is_open = by_ == guard::pages && open_ > 0;
  void* const at =
      ::mmap(nullptr, size, is_open ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  if (by_ == guard::keys && detail::put_under_key(at, size, key_) != 0) return ::munmap(at, size), nullptr;
  pages_.emplace(at, size);
  return at;
}

PINION_DECL void guarded_memory::free(void* block) noexcept {
  if (by_ == guard::none) return ::operator delete (block, std::align_val_t{64});
  std::lock_guard hold(mutex_);
  const auto at = pages_.find(block);
  ::munmap(at->first, at->second);
  pages_.erase(at);
}

PINION_DECL guarded_memory::access::access(guarded_memory& of) : of_(of), before_(of.enter()) {}

PINION_DECL guarded_memory::access::~access() {
  of_.leave(before_);
}

PINION_DECL bool guarded_memory::is_open_here_alone() const {
  return by_ == guard::keys && detail::rights_of(key_) == 0;
}

PINION_DECL unsigned guarded_memory::enter() {
  if (by_ == guard::none) return 0;
  if (by_ == guard::keys) {
    const unsigned before = detail::rights_of(key_);
    detail::set_rights(key_, 0);
    return before;
  }
  std::lock_guard hold(mutex_);
  if (open_++ == 0) protect_all(PROT_READ | PROT_WRITE);
  return 0;
}

PINION_DECL void guarded_memory::leave(unsigned before) noexcept {
  if (by_ == guard::keys) detail::set_rights(key_, before);
  if (by_ != guard::pages) return;
  std::lock_guard hold(mutex_);
  if (--open_ == 0) protect_all(PROT_NONE);
}

PINION_DECL void guarded_memory::protect_all(int rights) noexcept {
  for (const auto& [at, size] : pages_) ::mprotect(at, size, rights);
}

}}}  // namespace pinion::v0::devices
