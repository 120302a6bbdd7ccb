// The compiled back end: a kernel instantiated from a program that the compiler knows, and the table to find it in.
#pragma once

#include <atomic>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/refused.hpp>
#include <pinion/scalar/isa.hpp>
#include <pinion/scalar/maths.hpp>
#include <pinion/scalar/program.hpp>
#include <pinion/scalar/simd.hpp>
#include <pinion/scalar/strip.hpp>

namespace pinion::inline v0::scalar {

using kernel_table = entry_table<const strip*>;

// A kernel somewhere in this binary. Lives as long as the program; linked into the list once, before or during main.
struct compiled_kernel {
  std::uint64_t fingerprint;
  bool (*computes)(const program&);
  const kernel_table* entries;  // called with strips of whole vectors
  const compiled_kernel* next = nullptr;
};

__attribute__((visibility("default"))) inline std::atomic<const compiled_kernel*> compiled_kernels{nullptr};

// The kernel of an executable program, or null. Equality decides; the fingerprint is only an index.
const compiled_kernel* find_compiled(const program& p);

namespace detail {

// The arithmetic of one instruction on values of any lane count.
template <opcode Op, class V>
PINION_VECTOR V compute(V a, V b) {
  if constexpr (Op == opcode::add)
    return a + b;
  else if constexpr (Op == opcode::subtract)
    return a - b;
  else if constexpr (Op == opcode::multiply)
    return a * b;
  else if constexpr (Op == opcode::divide)
    return a / b;
  else if constexpr (Op == opcode::minimum)
    return min(a, b);
  else if constexpr (Op == opcode::maximum)
    return max(a, b);
  else if constexpr (Op == opcode::negate)
    return -a;
  else if constexpr (Op == opcode::absolute)
    return abs(a);
  else if constexpr (Op == opcode::sign)
    return sign(a);
  else if constexpr (!std::is_floating_point_v<typename V::value_type>)
    return a;  // refused by the shape function
  else if constexpr (Op == opcode::power)
    return pow(a, b);
#define PINION_OPCODE(function) else if constexpr (Op == opcode::function) return function(a);
  PINION_REAL_FUNCTIONS(PINION_OPCODE)
#undef PINION_OPCODE
  else if constexpr (Op == opcode::floor) return floor(a);
  else if constexpr (Op == opcode::ceil) return ceil(a);
  else return round(a);
}

template <opcode Op, class V>
PINION_VECTOR auto compare(V a, V b) {
  if constexpr (Op == opcode::less)
    return a < b;
  else if constexpr (Op == opcode::less_equal)
    return a <= b;
  else if constexpr (Op == opcode::equal)
    return a == b;
  else
    return a != b;
}

// Runs a program over whole vectors only: a strip whose length is not a multiple of the lanes is cut by its caller.
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

  template <class Isa>
  static PINION_VECTOR void run(const strip* s) {
    registers<Isa> r;
    for (auto& total : r.total) total = T(0);
    for (std::int64_t i = 0; i < s->n; i += simd<T, Isa>::lanes) {
      compute_all(r, *s, i, std::make_index_sequence<length>{});
      write_all(r, *s, i, std::make_index_sequence<results>{});
    }
    for (std::size_t k = 0; k < results; ++k)
      if (s->how[k] == sink::sum) {
        T* const out = static_cast<T*>(s->out[k]);
        *out = plus_lanes{}(*out, horizontal_sum(r.total[k]));
      }
  }

 private:
  template <class Isa, std::size_t... I>
  static PINION_VECTOR void compute_all(registers<Isa>& r, const strip& s, std::int64_t i, std::index_sequence<I...>) {
    (compute_one<I>(r, s, i), ...);
  }
  template <class Isa, std::size_t... K>
  static PINION_VECTOR void write_all(registers<Isa>& r, const strip& s, std::int64_t i, std::index_sequence<K...>) {
    (write_one<K>(r, s, i), ...);
  }
  template <class E>
  static PINION_VECTOR const E* element(const strip& s, int k, std::int64_t i) {
    return static_cast<const E*>(s.in[k]) + (i & s.advance[k]);
  }

  template <std::size_t I, class Isa>
  static PINION_VECTOR void compute_one(registers<Isa>& r, const strip& s, std::int64_t i) {
    using V = simd<T, Isa>;
    constexpr instruction in = P::executable.code[I];
    if constexpr (in.op == opcode::input)
      r.number[I] = V::load(element<T>(s, in.a, i));
    else if constexpr (in.op == opcode::input_mask)
      r.mask[I] = V::mask_type::load(element<bool>(s, in.a, i));
    else if constexpr (in.op == opcode::literal)
      r.number[I] = static_cast<const T*>(s.literals)[in.a];
    else if constexpr (in.op == opcode::constant)
      r.number[I] = P::executable.constants[in.a].template as<T>();
    else if constexpr (in.op == opcode::logical_and)
      r.mask[I] = r.mask[in.a] && r.mask[in.b];
    else if constexpr (in.op == opcode::logical_or)
      r.mask[I] = r.mask[in.a] || r.mask[in.b];
    else if constexpr (in.op == opcode::logical_not)
      r.mask[I] = !r.mask[in.a];
    else if constexpr (in.op == opcode::select)
      r.number[I] = select(r.mask[in.a], r.number[in.b], r.number[in.c]);
    else if constexpr (facts(in.op).yields_mask)
      r.mask[I] = compare<in.op>(r.number[in.a], r.number[in.b]);
    else
      r.number[I] = compute<in.op>(r.number[in.a], r.number[in.b]);
  }

  template <std::size_t K, class Isa>
  static PINION_VECTOR void write_one(registers<Isa>& r, const strip& s, std::int64_t i) {
    using V = simd<T, Isa>;
    using R = typename P::template result<K>;
    constexpr value_id id = P::executable.results[K].value;
    if (s.how[K] == sink::drop) return;
    if constexpr (facts(P::executable.code[id].op).yields_mask) {
      r.mask[id].store(static_cast<bool*>(s.out[K]) + i);
    } else if constexpr (!std::is_same_v<R, T>) {
      convert<R>(r.number[id]).store(static_cast<R*>(s.out[K]) + i);
    } else {
      T* out = static_cast<T*>(s.out[K]) + i;
      if (s.how[K] == sink::sum)
        r.total[K] = r.total[K] + r.number[id];
      else if (s.how[K] == sink::store)
        r.number[id].store(out);
      else
        (V::load(out) + r.number[id]).store(out);
    }
  }
};

}  // namespace detail

// Instantiates the kernel of P and puts it into the table, before main, in every binary in which it is named. P has
// `arithmetic` (the element type), `executable` (a constant fixed program) and `result<K>` (the type of a result).
template <class P>
struct compile_program {
  static bool computes(const program& p) { return same_structure(P::executable, p); }
  static const compiled_kernel* add() {
    static compiled_kernel k{fingerprint(P::executable), &computes, &entries<detail::compiled_body<P>, const strip*>};
    k.next = compiled_kernels.load(std::memory_order_relaxed);
    while (!compiled_kernels.compare_exchange_weak(k.next, &k, std::memory_order_acq_rel)) {
    }
    return &k;
  }
  static inline const compiled_kernel* const kernel = add();
};

}  // namespace pinion::inline v0::scalar

#if PINION_HEADER_ONLY
#include <pinion/scalar/compiled.ipp>
#endif
