// The instruction sets a kernel can be compiled for, and the one door through which it enters each of them.
//
// A user compiles with plain -O2 and still gets the machine's widest vectors: a kernel is a class template over one of
// the tags below, and only the function that enters it carries a target attribute. Everything the kernel calls is
// PINION_INLINE and carries none, so it takes on the attribute of the door it was inlined through.
//
//   struct scale {
//     template <class Isa>
//     static PINION_INLINE void run(const float* x, float* y, int n);   // loads simd<float, Isa>, ...
//   };
//   dispatch<scale>(x, y, n);            // the widest instruction set of this machine
//
// Three rules come with it. A lambda does not inherit the target attribute of the function it stands in: kernels use
// named functions. A function outside this scheme must not take or return a vector. And a tag is never a property of
// a translation unit, so units built with different flags can be linked together.
#pragma once

#include <string_view>
#include <type_traits>

#include <pinion/base/config.hpp>

// g++ warns that functions which return vectors wider than the baseline's have another calling convention where AVX is
// enabled. Here all are inlined and none is called. (It warns at the end of the unit, hence no push and pop.)
#pragma GCC diagnostic ignored "-Wpsabi"

// PINION_INLINE for functions of vectors, and without the undefined-behaviour sanitizer: its checks of every `this` and
// reference would keep each temporary in memory, and g++ busy for minutes. Integers wrap here; nothing is left to find.
#define PINION_VECTOR PINION_INLINE __attribute__((no_sanitize("undefined")))

namespace pinion { inline namespace v0 { namespace scalar {

namespace isa {

// What every machine has: 16-byte vectors (SSE2 on x86-64, NEON on AArch64).
struct baseline {
  static constexpr int bytes = 16;
  static constexpr std::string_view name = "baseline";
  static bool supported() { return true; }
};

#if defined(__x86_64__)
struct avx2 {
  static constexpr int bytes = 32;
  static constexpr std::string_view name = "avx2";
  static bool supported();
};

struct avx512 {
  static constexpr int bytes = 64;
  static constexpr std::string_view name = "avx512";
  static bool supported();
};
#endif

template <class... Isas>
struct type_list {
  static constexpr int size = sizeof...(Isas);
};

// Narrowest to widest; an index below is a position in this list.
#if defined(__x86_64__)
using all = type_list<baseline, avx2, avx512>;
#else
using all = type_list<baseline>;
#endif

inline constexpr int count = all::size;

// Calls f.template operator()<Isa>(index) for each instruction set, narrowest first.
template <class F>
constexpr void for_each(F&& f) {
  [&]<class... Isas>(type_list<Isas...>) {
    int index = 0;
    (f.template operator()<Isas>(index++), ...);
  }(all{});
}

std::string_view name(int index);

// Bytes of a vector.
int bytes(int index);

template <class Isa>
inline constexpr int index_of = [] {
  int found = -1;
  for_each([&]<class I>(int i) { found = std::is_same_v<I, Isa> ? i : found; });
  return found;
}();

namespace detail {
// The widest supported instruction set that is not wider than the limit; an unknown or empty limit limits nothing.
int choose(std::string_view limit);
}  // namespace detail

// The index of the instruction set kernels run in, chosen once: the widest this machine has, or a narrower one if the
// environment says PINION_ISA=baseline or PINION_ISA=avx2.
int best();

}  // namespace isa

// enter<Isa>::run<Body>(a...) runs Body::run<Isa>(a...) compiled for Isa. One specialisation for each, because an
// attribute cannot depend on a template parameter. Requires: Isa::supported(); Body::run is PINION_INLINE.
template <class Isa>
struct enter;

template <>
struct enter<isa::baseline> {
  template <class Body, class... A>
  static void run(A... a) {
    Body::template run<isa::baseline>(a...);
  }
};

#if defined(__x86_64__)
template <>
struct enter<isa::avx2> {
  template <class Body, class... A>
  __attribute__((target("avx2,fma"))) static void run(A... a) {
    Body::template run<isa::avx2>(a...);
  }
};

template <>
struct enter<isa::avx512> {
  template <class Body, class... A>
  __attribute__((target("avx2,fma,avx512f,avx512dq,avx512bw,avx512vl"))) static void run(A... a) {
    Body::template run<isa::avx512>(a...);
  }
};
#endif

// Is this unit optimized? One that is not makes no kernels of programs, which take longer to compile and to run than
// the interpreter does, and compiles a body for the baseline alone. A binary may have units of both kinds, which share
// templates: whichever copy is linked, all units agree on the size of tables, and find the kernels of the optimized
// ones.
#if defined(__OPTIMIZE__)
inline constexpr bool compiles_kernels = true;
#else
inline constexpr bool compiles_kernels = false;
#endif

// One body compiled for every instruction set: a table by index.
template <class... A>
struct entry_table {
  using function = void (*)(A...);
  function at[isa::count];

  constexpr function operator[](int index) const { return at[index]; }
};

namespace detail {
template <class Isa>
using compiled_for = std::conditional_t<compiles_kernels, Isa, isa::baseline>;
template <class Body, class... A, class... Isas>
constexpr entry_table<A...> make_entries(isa::type_list<Isas...>) {
  return {{&enter<compiled_for<Isas>>::template run<Body, A...>...}};
}
}  // namespace detail

template <class Body, class... A>
inline constexpr entry_table<A...> entries = detail::make_entries<Body, A...>(isa::all{});

// Runs a body in the best instruction set of this machine.
template <class Body, class... A>
void dispatch(A... a) {
  entries<Body, A...>[isa::best()](a...);
}

}}}  // namespace pinion::v0::scalar

#if PINION_HEADER_ONLY
#include <pinion/scalar/isa.ipp>
#endif
