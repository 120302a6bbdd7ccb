// The compiled back end: kernels that are instantiated from programs known to the compiler, and the table that finds
// them.
#pragma once

#include <array>
#include <atomic>
#include <span>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/refused.hpp>
#include <pinion/scalar/compute.hpp>
#include <pinion/scalar/isa.hpp>
#include <pinion/scalar/maths.hpp>
#include <pinion/scalar/program.hpp>
#include <pinion/scalar/simd.hpp>
#include <pinion/scalar/strip.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

// One kernel for each instruction set.
using kernel_table = entry_table<const strip*>;

// A program that refers to tables kept elsewhere.
template <class T>
using span_of = std::span<const T>;
using program_view = basic_program<span_of>;

// A kernel in this binary, with the program that it computes. It lives as long as the process.
struct compiled_kernel {
  std::uint64_t fingerprint;
  const program_view* computes;
  const kernel_table* entries;  // these take strips of whole vectors
};

// A kernel that a unit of a program has brought along. Each is linked into the list once, before or during main.
struct added_kernel {
  compiled_kernel kernel;
  const added_kernel* next = nullptr;
};
__attribute__((visibility("default"))) inline std::atomic<const added_kernel*> added_kernels{nullptr};

// The kernels that pinion::compiled holds: one table from each of its units of kernels, which is empty if that unit was
// compiled without optimization. Look-ups name the tables, so that the linker takes these units out of the archive.
struct held_kernels {
  static std::span<const compiled_kernel> of_rules();
  static std::span<const compiled_kernel> of_single_ops();
  static std::span<const compiled_kernel> of_single_ops_in_float();
  static std::span<const compiled_kernel> of_single_ops_in_double();
  static std::span<const compiled_kernel> of_fusions_in_float();
  static std::span<const compiled_kernel> of_fusions_in_double();
  static std::span<const compiled_kernel> of_second_gradients_in_float();
  static std::span<const compiled_kernel> of_second_gradients_in_double();
};

// Finds the kernel of an executable program; null if there is none. Programs are compared as a whole; the fingerprint
// is only an index. Thread-safe.
const compiled_kernel* find_compiled(const program& p);

namespace detail {

// Runs a program over whole vectors. The caller cuts a strip whose length is not a multiple of the lanes.
template <class P>
struct compiled_body {
  using T = typename P::arithmetic;
  static constexpr std::size_t length = P::executable.code.size();
  static constexpr std::size_t results = P::executable.results.size();

  template <class Isa>
  struct registers {
    simd<T, Isa> number[length];
    typename simd<T, Isa>::mask_type mask[length];
    simd<T, Isa> total[results];
  };

  // Nothing else leads to the strip (__restrict), or its fields would be read again after each store.
  template <class Isa>
  static PINION_VECTOR void run(const strip* __restrict s) {
    registers<Isa> r;
    for (auto& total : r.total) total = T(0);
    load_literals(r, *s, std::make_index_sequence<length>{});
    if (is_short<Isa> && is_plain(*s))
      run_vectors<is_short<Isa>>(r, *s);
    else
      run_vectors<false>(r, *s);
    for (std::size_t k = 0; k < results; ++k)
      if (s->how[k] == sink::sum) {
        T* const out = static_cast<T*>(s->out[k]);
        *out = plus_lanes{}(*out, horizontal_sum(r.total[k]));
      }
  }

 private:
  // A program with one operation a result, all numbers, has a loop of its own for strips of which all inputs advance
  // and all results are stored: to find out for each vector how its operands are walked would take longer than to
  // compute it. A program of which each strip is like that asks for the loop with `is_flat`. Old machines do without,
  // since each loop takes time to compile.
  template <class Isa>
  static constexpr bool is_short = [] {
    for (const auto& in : P::executable.code)
      if (is_real_function(in.op)) return false;
    for (const auto& r : P::executable.results)
      if (r.type != P::executable.arithmetic) return false;
    return (operation_count(P::executable) <= static_cast<int>(results) || requires { requires P::is_flat; }) &&
           (isa::compiled::size == 1 || !std::is_same_v<Isa, isa::baseline>);
  }();
  static PINION_VECTOR bool is_plain(const strip& s) {
    bool plain = true;
    for (std::size_t k = 0; k < P::executable.inputs; ++k) plain &= s.advance[k] != 0;
    for (std::size_t k = 0; k < results; ++k) plain &= s.how[k] == sink::store;
    return plain;
  }

  template <class Isa, std::size_t... I>
  static PINION_VECTOR void load_literals(registers<Isa>& r, const strip& s, std::index_sequence<I...>) {
    const T* const literals = static_cast<const T*>(s.literals);
    ((P::executable.code[I].op == opcode::literal
          ? void(r.number[I] = simd<T, Isa>::splat(literals[P::executable.code[I].a]))
          : void()),
     ...);
  }
  template <bool Plain, class Isa>
  static PINION_VECTOR void run_vectors(registers<Isa>& r, const strip& s) {
    for (std::int64_t i = 0; i < s.n; i += simd<T, Isa>::lanes) {
      compute_all<Plain>(r, s, i, std::make_index_sequence<length>{});
      write_all<Plain>(r, s, i, std::make_index_sequence<results>{});
    }
  }
  template <bool Plain, class Isa, std::size_t... I>
  static PINION_VECTOR void compute_all(registers<Isa>& r, const strip& s, std::int64_t i, std::index_sequence<I...>) {
    (compute_one<Plain, I>(r, s, i), ...);
  }
  template <bool Plain, class Isa, std::size_t... K>
  static PINION_VECTOR void write_all(registers<Isa>& r, const strip& s, std::int64_t i, std::index_sequence<K...>) {
    (write_one<Plain, K>(r, s, i), ...);
  }
  template <bool Plain, class E>
  static PINION_VECTOR const E* element(const strip& s, int k, std::int64_t i) {
    return static_cast<const E*>(s.in[k]) + (Plain ? i : i & s.advance[k]);
  }

  template <bool Plain, std::size_t I, class Isa>
  static PINION_VECTOR void compute_one(registers<Isa>& r, const strip& s, std::int64_t i) {
    using V = simd<T, Isa>;
    constexpr instruction in = P::executable.code[I];
    if constexpr (in.op == opcode::literal)
      return;  // it is there
    else if constexpr (in.op == opcode::input)
      r.number[I] = V::load(element<Plain, T>(s, in.a, i));
    else if constexpr (in.op == opcode::input_mask)
      r.mask[I] = V::mask_type::load(element<Plain, bool>(s, in.a, i));
    else if constexpr (in.op == opcode::constant)
      r.number[I] = P::executable.constants[in.a].template as<T>();
    else
      compute_into<in.op>(r.number, r.mask, I, in);
  }

  template <bool Plain, std::size_t K, class Isa>
  static PINION_VECTOR void write_one(registers<Isa>& r, const strip& s, std::int64_t i) {
    using V = simd<T, Isa>;
    using R = typename P::template result<K>;
    constexpr value_id id = P::executable.results[K].value;
    if (!Plain && s.how[K] == sink::drop) return;
    if constexpr (facts(P::executable.code[id].op).yields_mask) {
      r.mask[id].store(static_cast<bool*>(s.out[K]) + i);
    } else if constexpr (!std::is_same_v<R, T>) {
      convert<R>(r.number[id]).store(static_cast<R*>(s.out[K]) + i);
    } else {
      T* out = static_cast<T*>(s.out[K]) + i;
      if (Plain || s.how[K] == sink::store)
        r.number[id].store(out);
      else if (s.how[K] == sink::sum)
        r.total[K] = r.total[K] + r.number[id];
      else
        (V::load(out) + r.number[id]).store(out);
    }
  }
};

}  // namespace detail

// Keeps the program of P in the binary, with tables that are exactly as long as their contents.
template <class P>
struct kept_program {
  using recorded = std::remove_const_t<decltype(P::executable)>;
  template <auto Table>
  static constexpr auto entries_of = [] {
    constexpr auto& all = P::executable.*Table;
    std::array<std::remove_cvref_t<decltype(all[0])>, all.size()> entries{};
    auto* to = entries.data();
    for (const auto& one : all) *to++ = one;
    return entries;
  }();
  static constexpr program_view view{P::executable.arithmetic,         P::executable.inputs,
                                     entries_of<&recorded::code>,      entries_of<&recorded::literals>,
                                     entries_of<&recorded::constants>, entries_of<&recorded::results>};
};

// The kernel of P, which is instantiated where it is named. P has `arithmetic` (the element type), `executable` (a
// constant fixed program) and `result<K>` (the type of result K).
template <class P>
inline constexpr compiled_kernel kernel_of{fingerprint(P::executable), &kept_program<P>::view,
                                           &entries<detail::compiled_body<P>, const strip*>};

// Puts the kernel of P into the list before main, in every binary that names it.
template <class P>
struct compile_program {
  static const added_kernel* add() {
    static added_kernel k{kernel_of<P>};
    k.next = added_kernels.load(std::memory_order_relaxed);
    while (!added_kernels.compare_exchange_weak(k.next, &k, std::memory_order_acq_rel)) {
    }
    return &k;
  }
  static inline const added_kernel* const kernel = add();
};

}}}  // namespace pinion::v0::scalar

#if PINION_HEADER_ONLY
#include <pinion/scalar/compiled.ipp>
#endif
