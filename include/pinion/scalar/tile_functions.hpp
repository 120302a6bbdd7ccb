// The functions that the interpreter calls for a tile: one for each instruction, and for pairs of cheap instructions
// whose first value then needs no memory. Masks are numbers here: 1 for true, 0 for false.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <pinion/scalar/compiled.hpp>
#include <pinion/scalar/tile.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

namespace detail {

template <opcode Op>
struct single_step {
  static constexpr int operands = facts(Op).operands;
  template <class V>
  static PINION_VECTOR V of(V a, V b = V(), V c = V()) {
    return compute_in_numbers<Op>(a, b, c);
  }
};
template <opcode Op, opcode Inner>
struct left_step {
  static constexpr int operands = 3;
  template <class V>
  static PINION_VECTOR V of(V a, V b, V c) {
    return compute<Op>(compute<Inner>(a, b), c);
  }
};
template <opcode Inner>
struct divisor_step {
  static constexpr int operands = 3;
  template <class V>
  static PINION_VECTOR V of(V a, V b, V c) {
    return c / compute<Inner>(a, b);
  }
};
template <opcode Inner>
struct subtracted_step {
  static constexpr int operands = 3;
  template <class V>
  static PINION_VECTOR V of(V a, V b, V c) {
    return c - compute<Inner>(a, b);
  }
};
template <opcode Inner>
struct square_step {
  static constexpr int operands = 2;
  template <class V>
  static PINION_VECTOR V of(V a, V b) {
    const V x = compute<Inner>(a, b);
    return x * x;
  }
};
template <opcode Inner>
struct choice_step {
  static constexpr int operands = 4;
  template <class V>
  static PINION_VECTOR V of(V a, V b, V c, V d) {
    return select(compute<Inner>(a, b), c, d);
  }
};

// An operand on its way along a tile. It copies what it needs of the tile, which a store might change.
template <class V, class E = typename V::value_type>
struct moving_operand {
  const E* at;
  std::int64_t step;

  PINION_VECTOR moving_operand(const tile& t, int k)
      : at(static_cast<const E*>(t.in[k])), step(t.moves[k] & V::lanes) {}
  PINION_VECTOR V next() {
    const V x = V::load(at);
    at += step;
    return x;
  }
};

// Runs a step over a tile.
template <class Step, class T>
struct tile_body {
  template <class Isa>
  static PINION_VECTOR void run(const tile* t) {
    run_over<simd<T, Isa>>(*t, std::make_index_sequence<Step::operands>{});
  }

 private:
  template <class V, std::size_t... I>
  static PINION_VECTOR void run_over(const tile& t, std::index_sequence<I...>) {
    T* const out = static_cast<T*>(t.out);
    run_loop<V>(out, out + t.n, moving_operand<V>(t, I)...);
  }
  template <class V, class... Operand>
  static PINION_VECTOR void run_loop(T* out, T* end, Operand... operand) {
    for (; out != end; out += V::lanes) Step::of(operand.next()...).store(out);
  }
};

// Makes numbers of a mask's bytes.
template <class T>
struct mask_body {
  template <class Isa>
  static PINION_VECTOR void run(const tile* t) {
    using V = simd<T, Isa>;
    moving_operand<typename V::mask_type> a(*t, 0);
    T *out = static_cast<T*>(t->out), *const end = out + t->n;
    for (; out != end; out += V::lanes) select(a.next(), V(T(1)), V(T(0))).store(out);
  }
};

// Writes values as elements of R, as a compiled kernel converts them.
template <class T, class R>
struct store_body {
  template <class Isa>
  static PINION_VECTOR void run(const tile* t) {
    using V = simd<T, Isa>;
    moving_operand<V> a(*t, 0);
    R *out = static_cast<R*>(t->out), *const end = out + t->n;
    for (; out != end; out += V::lanes) {
      if constexpr (std::is_same_v<R, bool>)
        (a.next() != V(T(0))).store(out);
      else if constexpr (std::is_same_v<R, T>)
        a.next().store(out);
      else
        convert<R>(a.next()).store(out);
    }
  }
};

// Adds values to a vector of sums, one for each lane, in the order in which a compiled kernel adds them.
template <class T>
struct sum_body {
  template <class Isa>
  static PINION_VECTOR void run(const tile* t) {
    using V = simd<T, Isa>;
    moving_operand<V> a(*t, 0);
    V sum = V::load(static_cast<const T*>(t->out));
    for (std::int64_t i = 0; i < t->n; i += V::lanes) sum = sum + a.next();
    sum.store(static_cast<T*>(t->out));
  }
};

// Adds the sum of a vector to one number, as a compiled kernel does at the end of a strip.
template <class T>
struct total_body {
  template <class Isa>
  static PINION_VECTOR void run(const tile* t) {
    T* const out = static_cast<T*>(t->out);
    *out = plus_lanes{}(*out, horizontal_sum(simd<T, Isa>::load(static_cast<const T*>(t->in[0]))));
  }
};

template <class Body>
inline constexpr const entry_table<const tile*>* tile_table = &entries<Body, const tile*>;

constexpr std::size_t index_of(opcode op, opcode first) {
  return static_cast<std::size_t>(op) - static_cast<std::size_t>(first);
}

// The instruction that computes `op` in T: integers have none of the functions of real numbers, and one stands for all.
template <class T>
constexpr opcode computed_as(opcode op) {
  return std::is_integral_v<T> && (is_real_function(op) || op == opcode::floor || op == opcode::ceil) ? opcode::round
                                                                                                      : op;
}

// The bodies of a step over each instruction from First to Last.
template <template <opcode> class Step, class T, opcode First, opcode Last>
inline constexpr auto tile_tables = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{
      tile_table<tile_body<Step<computed_as<T>(static_cast<opcode>(static_cast<std::size_t>(First) + I))>, T>>...};
}
(std::make_index_sequence<index_of(Last, First) + 1>{});

template <class T>
tile_function single_function(opcode op, int isa) {
  return (*tile_tables<single_step, T, opcode::add, opcode::select>[index_of(op, opcode::add)])[isa];
}

template <opcode Op>
struct with_outer {
  template <opcode Inner>
  using left = left_step<Op, Inner>;
};
template <class T>
tile_function pair_function(const tile_op& step, int isa) {
  constexpr opcode first = opcode::add, last = opcode::multiply;
  if (step.is == tile_op::choice)
    return (*tile_tables<choice_step, T, opcode::less, opcode::not_equal>[index_of(step.inner, opcode::less)])[isa];
  if (step.op == opcode::minimum) return (*tile_table<tile_body<left_step<opcode::minimum, opcode::maximum>, T>>)[isa];
  if (step.op == opcode::maximum) return (*tile_table<tile_body<left_step<opcode::maximum, opcode::minimum>, T>>)[isa];
  const auto inner = index_of(step.inner, first);
  if (step.is == tile_op::square) return (*tile_tables<square_step, T, first, last>[inner])[isa];
  if (step.op == opcode::divide) return (*tile_tables<divisor_step, T, first, last>[inner])[isa];
  if (step.is == tile_op::right) return (*tile_tables<subtracted_step, T, first, last>[inner])[isa];
  if (step.op == opcode::add) return (*tile_tables<with_outer<opcode::add>::left, T, first, last>[inner])[isa];
  if (step.op == opcode::subtract)
    return (*tile_tables<with_outer<opcode::subtract>::left, T, first, last>[inner])[isa];
  return (*tile_tables<with_outer<opcode::multiply>::left, T, first, last>[inner])[isa];
}

}  // namespace detail

// The functions of the arithmetic type T.
template <class T>
struct tile_functions {
  // Integers have no pairs, to keep the library small.
  static constexpr bool pairs = std::is_floating_point_v<T>;

  static tile_function of(const tile_op& step, int isa) {
    if constexpr (pairs)
      if (step.is != tile_op::single) return detail::pair_function<T>(step, isa);
    return step.op == opcode::input_mask ? entries<detail::mask_body<T>, const tile*>[isa]
                                         : detail::single_function<T>(step.op, isa);
  }
  static tile_function sum(int isa) { return entries<detail::sum_body<T>, const tile*>[isa]; }
  static tile_function total(int isa) { return entries<detail::total_body<T>, const tile*>[isa]; }
  static tile_function store(dtype type, int isa) {
    return visit_plain(type, [&]<class R>() { return entries<detail::store_body<T, R>, const tile*>[isa]; });
  }
};

}}}  // namespace pinion::v0::scalar
