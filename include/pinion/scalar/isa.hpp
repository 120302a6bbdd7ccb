// The instruction sets that kernels are compiled for, and the one way in which a kernel enters them.
//
// A user compiles with plain -O2 and still gets the widest vectors of the machine. A kernel is a class template over
// one of the tags below, and only the function that enters it carries a target attribute. Everything that the kernel
// calls is PINION_INLINE without an attribute, and so takes the attribute of the function that it is inlined into.
//
//   struct scale {
//     template <class Isa>
//     static PINION_INLINE void run(const float* x, float* y, int n);   // loads simd<float, Isa>, ...
//   };
//   dispatch<scale>(x, y, n);            // the widest instruction set of this machine
//
// Three rules follow. A lambda does not inherit the target attribute of the function around it, so kernels use named
// functions. A function outside of this scheme must not take or return a vector. A tag is never a property of a
// translation unit, so that units built with different flags can be linked together.
#pragma once

#include <string_view>
#include <type_traits>

#include <pinion/base/config.hpp>

// g++ warns that functions which return vectors wider than the baseline's have another calling convention where AVX is
// enabled. All such functions here are inlined, so none is called. (The warning comes at the end of the unit, where a
// pop would have ended the effect of a push.)
#pragma GCC diagnostic ignored "-Wpsabi"

// PINION_INLINE for functions of vectors, without the undefined-behaviour sanitizer. Its checks of every `this` and
// every reference would keep each temporary in memory, and would take g++ minutes. Integers wrap here, so it would find
// nothing.
#define PINION_VECTOR PINION_INLINE __attribute__((no_sanitize("undefined")))

namespace pinion { inline namespace v0 { namespace scalar {

namespace isa {

// The instructions that every machine has, on vectors of 16 bytes: SSE2 on x86-64, NEON on AArch64.
struct baseline {
  static constexpr int bytes = 16;
  static constexpr std::string_view name = "baseline";
  static bool supported() { return true; }
};

#if defined(__x86_64__)
// Vectors of 32 bytes, with fused multiply-add.
struct avx2 {
  static constexpr int bytes = 32;
  static constexpr std::string_view name = "avx2";
  static bool supported();
};

// Vectors of 64 bytes.
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

// All instruction sets, from the narrowest to the widest. An index is a position in this list.
#if defined(__x86_64__)
using all = type_list<baseline, avx2, avx512>;
#else
using all = type_list<baseline>;
#endif

inline constexpr int count = all::size;

// Those that this build compiles kernels for: all, or one, where it is for machines that have that one
// (PINION_INSTRUCTION_SETS of the build). Tables have a place for each of all nevertheless.
#if defined(PINION_INSTRUCTION_SET)
using compiled = type_list<PINION_INSTRUCTION_SET>;
#else
using compiled = all;
#endif
namespace detail {
template <class Isa, class... Isas>
constexpr bool is_among(type_list<Isas...>) {
  return (std::is_same_v<Isa, Isas> || ...);
}
}  // namespace detail
template <class Isa>
inline constexpr bool is_compiled = detail::is_among<Isa>(compiled{});

// Calls f.template operator()<Isa>(index) for each instruction set, narrowest first.
template <class F>
constexpr void for_each(F&& f) {
  [&]<class... Isas>(type_list<Isas...>) {
    int index = 0;
    (f.template operator()<Isas>(index++), ...);
  }(all{});
}

// The name of an instruction set.
std::string_view name(int index);

// The bytes of its vectors.
int bytes(int index);

// The index of an instruction set.
template <class Isa>
inline constexpr int index_of = [] {
  int found = -1;
  for_each([&]<class I>(int i) { found = std::is_same_v<I, Isa> ? i : found; });
  return found;
}();

namespace detail {
// The widest instruction set that is compiled, supported and not wider than the limit. An unknown or empty limit is
// none. Throws failed_precondition where there is none.
int choose(std::string_view limit);
}  // namespace detail

// The index of the instruction set that kernels run in: the widest that this machine has, or a narrower one if the
// environment says PINION_ISA=baseline or PINION_ISA=avx2. It is chosen once in a process. Throws failed_precondition
// where the kernels are for other machines (PINION_INSTRUCTION_SETS).
int best();

// Throws failed_precondition: a table has no entry for that instruction set.
[[noreturn]] void refuse_missing(int index);

}  // namespace isa

// enter<Isa>::run<Body>(a...) runs Body::run<Isa>(a...), compiled for Isa. There is one specialisation for each
// instruction set, because an attribute cannot depend on a template parameter. Requires: Isa::supported(); Body::run is
// PINION_INLINE.
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

// True in a unit that is optimized. Other units make no kernels of programs, since these would take longer to compile
// and to run than the interpreter does, and compile bodies for the baseline alone. A binary may have units of both
// kinds, which share templates. Whichever copy is linked, all units agree on the size of tables, and find the kernels
// of the optimized ones.
#if defined(__OPTIMIZE__)
inline constexpr bool compiles_kernels = true;
#else
inline constexpr bool compiles_kernels = false;
#endif

// One body, compiled for every instruction set: a table by index. A program may have units with other instruction sets
// than the one that asks; where they left no entry, asking for it throws failed_precondition.
template <class... A>
struct entry_table {
  using function = void (*)(A...);
  function at[isa::count];

  constexpr function operator[](int index) const {
    return at[index] ? at[index] : (isa::refuse_missing(index), nullptr);
  }
};

namespace detail {
template <class Isa>
using compiled_for = std::conditional_t<compiles_kernels, Isa, isa::baseline>;
template <class Body, class Isa, class... A>
constexpr typename entry_table<A...>::function entry_of() {
  if constexpr (isa::is_compiled<Isa>)
    return &enter<compiled_for<Isa>>::template run<Body, A...>;
  else
    return nullptr;
}
template <class Body, class... A, class... Isas>
constexpr entry_table<A...> make_entries(isa::type_list<Isas...>) {
  return {{entry_of<Body, Isas, A...>()...}};
}
}  // namespace detail

// The table of a body.
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
