// Compiler and build-mode facts, and the few macros of the library.
#pragma once

#define PINION_VERSION "0.1.0"

// Functions that must vanish into a caller compiled for a wider instruction set.
#define PINION_INLINE inline __attribute__((always_inline))

// Are Asio, Cereal and OpenSSL there? Answered by the build, or by looking.
#if !defined(PINION_HAS_DISTRIBUTED)
#if __has_include(<asio/awaitable.hpp>) && __has_include(<cereal/cereal.hpp>) && __has_include(<openssl/hmac.h>)
#define PINION_HAS_DISTRIBUTED 1
#else
#define PINION_HAS_DISTRIBUTED 0
#endif
#endif

// Before a constructor of what counts as long as it lives. On the class alone, the attribute says nothing under g++.
#define PINION_GUARD [[nodiscard("a guard counts while it lives, and this one is gone at once: give it a name")]]

// Two ways to build, one source: pure headers, or pinion::compiled. A header declares, documents and holds templates;
// the bodies of everything else stand beside it in a file of the same name, .ipp, which the header includes at its end
// in the first mode, and one unit of cmake/compiled in the second. begins each definition there.
#if defined(PINION_COMPILED)
#define PINION_HEADER_ONLY 0
#define PINION_DECL
#else
#define PINION_HEADER_ONLY 1
#define PINION_DECL inline
#endif

// A build mode must be the same in every unit of a program. The same name is thread-local in one mode and plain in the
// other, and every unit mentions it, so that the linker refuses a mixture and prints the name.
extern "C" {
#if defined(PINION_COMPILED)
extern __thread char pinion_units_of_header_only_and_compiled_mode_do_not_link;  // cmake/compiled/build_mode.cpp
#else
[[gnu::used]] inline char pinion_units_of_header_only_and_compiled_mode_do_not_link = 0;
#endif
}
#if defined(PINION_COMPILED)
namespace pinion { inline namespace v0 { namespace detail {
[[gnu::used]] inline char* build_mode() {
  return &pinion_units_of_header_only_and_compiled_mode_do_not_link;
}
}}}  // namespace pinion::v0::detail
#endif
