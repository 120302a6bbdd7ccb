// The block interpreter: it runs any scalar program over tiles that fit into the cache, also a program that this binary
// has never seen as a type.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/scalar/compiled.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

namespace detail {

// The number of elements in a tile.
inline constexpr int tile = 256;

// Runs one instruction over one tile. Masks are numbers here: 1 for true, 0 for false.
template <opcode Op, class T>
struct tile_body {
  template <class Isa>
  static PINION_VECTOR void run(const T* a, const T* b, const T* c, T* out) {
    using V = simd<T, Isa>;
    for (int i = 0; i < tile; i += V::lanes) {
      const V x = V::load(a + i), y = V::load(b + i);
      V r;
      if constexpr (Op == opcode::select)
        r = select(x != V(T(0)), y, V::load(c + i));
      else if constexpr (Op == opcode::logical_and)
        r = select(x != V(T(0)) && y != V(T(0)), V(T(1)), V(T(0)));
      else if constexpr (Op == opcode::logical_or)
        r = select(x != V(T(0)) || y != V(T(0)), V(T(1)), V(T(0)));
      else if constexpr (Op == opcode::logical_not)
        r = select(x == V(T(0)), V(T(1)), V(T(0)));
      else if constexpr (facts(Op).yields_mask)
        r = select(compare<Op>(x, y), V(T(1)), V(T(0)));
      else
        r = compute<Op>(x, y);
      r.store(out + i);
    }
  }
};

template <class T>
struct fold_body {
  // Adds the sum of n elements, n <= tile, to the total, in the order in which a compiled kernel adds them.
  template <class Isa>
  static PINION_VECTOR void run(const T* x, int n, T* total) {
    using V = simd<T, Isa>;
    V sum = T(0);
    int i = 0;
    for (; i + V::lanes <= n; i += V::lanes) sum = sum + V::load(x + i);
    if (i < n) sum = sum + V::load(x + i, n - i);
    *total = plus_lanes{}(*total, horizontal_sum(sum));
  }
};

template <class T>
using tile_function = void (*)(const T*, const T*, const T*, T*);

template <class T, std::size_t... Op>
tile_function<T> tile_function_of(opcode op, int isa, std::index_sequence<Op...>) {
  static constexpr const entry_table<const T*, const T*, const T*, T*>* table[] = {
      &entries<tile_body<static_cast<opcode>(Op), T>, const T*, const T*, const T*, T*>...};
  return (*table[static_cast<std::size_t>(op)])[isa];
}

template <class T>
tile_function<T> tile_function_of(opcode op, int isa) {
  return tile_function_of<T>(op, isa, std::make_index_sequence<static_cast<std::size_t>(opcode::partial)>{});
}

#if !PINION_HEADER_ONLY  // one unit of the library has these
extern template tile_function<float> tile_function_of<float>(opcode, int);
extern template tile_function<double> tile_function_of<double>(opcode, int);
extern template tile_function<std::int32_t> tile_function_of<std::int32_t>(opcode, int);
extern template tile_function<std::int64_t> tile_function_of<std::int64_t>(opcode, int);
extern template tile_function<std::uint8_t> tile_function_of<std::uint8_t>(opcode, int);
#endif

}  // namespace detail

// A program made ready for elements of type T. Immutable, so any thread may run it; each run owns its scratch memory.
template <class T>
class interpreted {
 public:
  // Requires: `p` is executable (it has no `partial`) and outlives this object.
  explicit interpreted(const program& p, int isa = isa::best()) : p_(p), isa_(isa), run_(p.code.size()) {
    for (std::size_t i = 0; i < p.code.size(); ++i)
      if (facts(p.code[i].op).operands > 0) run_[i] = detail::tile_function_of<T>(p.code[i].op, isa);
    assign_rows();
  }

  // Runs the program over a strip.
  void operator()(const strip& s) const {
    const std::unique_ptr<T[]> scratch(new T[rows_ * detail::tile]);
    for (std::size_t i = 0; i < p_.code.size(); ++i)
      if (!run_[i]) fill_leaf(s, i, scratch.get());
    for (std::int64_t at = 0; at < s.n; at += detail::tile) {
      const int n = static_cast<int>(std::min<std::int64_t>(detail::tile, s.n - at));
      run_tile(s, at, n, scratch.get());
    }
  }

 private:
  // Gives each value a row of the scratch memory. A leaf keeps its row; the row of a computed value is free again after
  // its last use, so that a long program stays in the cache, too.
  void assign_rows() {
    const std::size_t end = p_.code.size();
    std::vector<std::size_t> last_use(end, 0), free;
    for (std::size_t i = 0; i < end; ++i)
      for (int k = 0; k < facts(p_.code[i].op).operands; ++k) last_use[p_.code[i].operand(k)] = i;
    for (const result& r : p_.results) last_use[r.value] = end;
    for (std::size_t i = 0; i < end; ++i) {
      const bool reuses = run_[i] && !free.empty();
      row_.push_back(reuses ? free.back() : rows_++);
      if (reuses) free.pop_back();
      for (int k = 0; k < facts(p_.code[i].op).operands; ++k) {
        const value_id o = p_.code[i].operand(k);
        if (last_use[o] != i || !run_[o]) continue;
        free.push_back(row_[o]);
        last_use[o] = end;  // it is freed once, also where it is both operands
      }
    }
  }
  T* row(T* scratch, std::size_t value) const { return scratch + row_[value] * detail::tile; }

  // Fills the row of a value that is the same in every tile.
  void fill_leaf(const strip& s, std::size_t i, T* scratch) const {
    const auto& in = p_.code[i];
    T value{};
    if (in.op == opcode::literal)
      value = static_cast<const T*>(s.literals)[in.a];
    else if (in.op == opcode::constant)
      value = p_.constants[in.a].template as<T>();
    else if (in.op == opcode::input && !s.advance[in.a])
      value = *static_cast<const T*>(s.in[in.a]);
    else if (in.op == opcode::input_mask && !s.advance[in.a])
      value = T(*static_cast<const bool*>(s.in[in.a]));
    std::fill_n(row(scratch, i), detail::tile, value);
  }

  void run_tile(const strip& s, std::int64_t at, int n, T* scratch) const {
    for (std::size_t i = 0; i < p_.code.size(); ++i) {
      const auto& in = p_.code[i];
      T* out = row(scratch, i);
      if (run_[i]) {
        const int operands = facts(in.op).operands;
        const T* a = row(scratch, in.a);
        run_[i](a, operands > 1 ? row(scratch, in.b) : a, operands > 2 ? row(scratch, in.c) : a, out);
      } else if (in.op == opcode::input && s.advance[in.a]) {
        std::copy_n(static_cast<const T*>(s.in[in.a]) + at, n, out);
      } else if (in.op == opcode::input_mask && s.advance[in.a]) {
        const bool* from = static_cast<const bool*>(s.in[in.a]) + at;
        std::transform(from, from + n, out, [](bool b) { return T(b); });
      }
    }
    for (std::size_t k = 0; k < p_.results.size(); ++k) write(s, k, at, n, row(scratch, p_.results[k].value));
  }

  void write(const strip& s, std::size_t k, std::int64_t at, int n, const T* from) const {
    switch (s.how[k]) {
      case sink::drop: return;
      case sink::sum:
        entries<detail::fold_body<T>, const T*, int, T*>[isa_](from, n, static_cast<T*>(s.out[k]));
        return;
      case sink::add: {
        T* out = static_cast<T*>(s.out[k]) + at;
        for (int i = 0; i < n; ++i) out[i] = static_cast<T>(out[i] + from[i]);
        return;
      }
      case sink::store:
        visit_plain(p_.results[k].type, [&]<class R>() {
          R* out = static_cast<R*>(s.out[k]) + at;
          if constexpr (std::is_same_v<R, bool>)
            std::transform(from, from + n, out, [](T x) { return x != T(0); });
          else
            std::transform(from, from + n, out, [](T x) { return static_cast<R>(x); });
        });
    }
  }

  const program& p_;
  int isa_;
  std::vector<detail::tile_function<T>> run_;  // null: the value is a leaf
  std::vector<std::size_t> row_;               // the row of each value
  std::size_t rows_ = 0;
};

}}}  // namespace pinion::v0::scalar
