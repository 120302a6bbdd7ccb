// Facts about the compiler and the build mode, and the few macros of the library.
#pragma once

#define PINION_VERSION "0.1.0"

// The compiler may not trade exactness for speed: rounding by the addition of a great number would be simplified away,
// and checks for NaN with it. clang tells of no flag but -ffast-math and -ffinite-math-only; PINION_EXACT_BEGIN holds
// the others off.
#if defined(__FAST_MATH__) || __FINITE_MATH_ONLY__ || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__)
#error \
    "pinion computes wrong numbers under -ffast-math, -Ofast and -funsafe-math-optimizations; \
compile units that include it without these, -O3 for example. Its expressions are vectorized all the same"
#endif
#if !defined(__cpp_rtti)
#error "pinion tells the types of errors and ops at run time; compile units that include it without -fno-rtti"
#endif
#if defined(__clang__)
#define PINION_EXACT_BEGIN _Pragma("float_control(precise, on, push)")
#define PINION_EXACT_END _Pragma("float_control(pop)")
#else
#define PINION_EXACT_BEGIN
#define PINION_EXACT_END
#endif

// Marks a function that must be inlined into its caller, because the caller may be compiled for a wider instruction
// set.
#define PINION_INLINE inline __attribute__((always_inline))

// 1 if Asio, Cereal and OpenSSL are available. The build tells it; otherwise their headers are looked for here.
#if !defined(PINION_HAS_DISTRIBUTED)
#if __has_include(<asio/awaitable.hpp>) && __has_include(<cereal/cereal.hpp>) && __has_include(<openssl/hmac.h>)
#define PINION_HAS_DISTRIBUTED 1
#else
#define PINION_HAS_DISTRIBUTED 0
#endif
#endif

// 1 if the build has the CUDA toolkit, and links pinion::cuda.
#if !defined(PINION_HAS_CUDA)
#define PINION_HAS_CUDA 0
#endif

// How many kernels pinion::compiled holds; see op/elementwise/held_programs.hpp.
#if !defined(PINION_HELD_KERNELS)
#define PINION_HELD_KERNELS 2
#endif

// Marks the constructor of a guard, an object that has its effect as long as it lives. g++ ignores the attribute on the
// class alone.
#define PINION_GUARD [[nodiscard("a guard counts while it lives, and this one is gone at once: give it a name")]]

// The library is built in one of two modes from one source: as pure headers, or as pinion::compiled. A header declares,
// documents and holds templates. The bodies of all other functions stand beside it in a file of the same name, .ipp;
// the header includes it at its end in the first mode, and one unit of cmake/compiled includes it in the second. Each
// definition there begins with PINION_DECL.
#if defined(PINION_COMPILED)
#define PINION_HEADER_ONLY 0
#define PINION_DECL
#else
#define PINION_HEADER_ONLY 1
#define PINION_DECL inline
#endif

// The build mode must be the same in every unit of a program. The name below is thread-local in one mode and not in the
// other, and every unit mentions it, so that the linker refuses a mixture and prints the name. lld looks at definitions
// alone, but refuses a section that is thread-local in part: one has that name behind a dot.
#define PINION_ONE_MODE gnu::used, gnu::section(".pinion_units_of_header_only_and_compiled_mode_do_not_link")
extern "C" {
#if defined(PINION_COMPILED)
extern __thread char pinion_units_of_header_only_and_compiled_mode_do_not_link;  // cmake/compiled/build_mode.cpp
[[PINION_ONE_MODE]] static __thread char pinion_compiled_mode = 0;
#else
[[PINION_ONE_MODE]] inline char pinion_units_of_header_only_and_compiled_mode_do_not_link = 0;
#endif
}
#if defined(PINION_COMPILED)
namespace pinion { inline namespace v0 { namespace detail {
[[gnu::used]] inline char* build_mode() {
  return &pinion_units_of_header_only_and_compiled_mode_do_not_link;
}
}}}  // namespace pinion::v0::detail
#endif
