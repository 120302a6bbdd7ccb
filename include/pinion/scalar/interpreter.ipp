// Bodies of <pinion/scalar/interpreter.hpp>.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <new>

#include <pinion/scalar/interpreter.hpp>
#include <pinion/scalar/tile_functions.hpp>
#include <pinion/scalar/tile_plan.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

namespace detail {

// Scratch memory of this thread, at the start of a cache line. It is the caller's until the next call.
inline std::byte* tile_memory(std::size_t bytes) {
  constexpr std::align_val_t line{64};
  struct release {
    void operator()(std::byte* p) const { ::operator delete(p, line); }
  };
  thread_local std::unique_ptr<std::byte, release> memory;
  thread_local std::size_t room = 0;
  if (room < bytes) {
    memory.reset();
    room = 0;
    memory.reset(static_cast<std::byte*>(::operator new(bytes, line)));
    room = bytes;
  }
  return memory.get();
}

}  // namespace detail

// Makes a program ready.
class interpreted::preparation {
 public:
  preparation(interpreted& made, const program& p, int isa) : made_(made), p_(p), isa_(isa), places_(p.code.size()) {}

  template <class T>
  void run() {
    plan_ = plan_tiles(p_, tile_functions<T>::pairs);
    made_.element_ = sizeof(T);
    made_.rows_ = static_cast<std::int64_t>(plan_.rows);
    made_.length_ = tile_length();
    made_.add_ = tile_functions<T>::of({.op = opcode::add}, isa_);
    made_.sum_ = tile_functions<T>::sum(isa_);
    made_.total_ = tile_functions<T>::total(isa_);
    for (std::size_t i = 0; i < places_.size(); ++i) places_[i] = leaf<T>(p_.code[i]);
    for (const planned_step& s : plan_.steps)
      places_[s.value] = {tile_place::row, static_cast<std::uint16_t>(plan_.row_of[s.value])};
    for (const result& r : p_.results) add(r, tile_functions<T>::store(r.type, isa_), dtype_of<T>);
    for (const planned_step& s : plan_.steps) add(s, tile_functions<T>::of(s.op, isa_));
  }

 private:
  // All that a tile touches fits into half of a first-level cache, unless the program is large.
  std::int64_t tile_length() const {
    constexpr std::int64_t cache = 24 << 10, step = 64, least = 128, most = 4096;
    const auto columns = made_.rows_ + static_cast<std::int64_t>(p_.inputs + p_.results.size());
    return std::clamp(cache / (columns * made_.element_) / step * step, least, most);
  }

  // The place of a leaf; any place for other values.
  template <class T>
  tile_place leaf(const instruction& in) {
    if (in.op == opcode::input) return {tile_place::input, in.a};
    if (in.op != opcode::literal && in.op != opcode::constant) return {};
    const T value = (in.op == opcode::literal ? p_.literals : p_.constants)[in.a].template as<T>();
    std::byte* lane = made_.numbers_.emplace_back().lanes;
    for (int i = 0; i < widest; ++i, lane += sizeof(T)) std::memcpy(lane, &value, sizeof(T));
    return {tile_place::number, static_cast<std::uint16_t>(made_.numbers_.size() - 1)};
  }

  void add(const planned_step& planned, tile_function function) {
    tile_step step{.run = function, .out = places_[planned.value]};
    for (const value_id o : planned.in) step.in[step.operands++] = places_[o];
    if (planned.op.op == opcode::input_mask) step.in[step.operands++] = {tile_place::mask, p_.code[planned.value].a};
    made_.steps_.push_back(step);
  }

  void add(const result& r, tile_function store, dtype numbers) {
    tile_place& at = places_[r.value];
    const bool may_be_direct = at.is == tile_place::row && at.result < 0 && r.type == numbers;
    if (may_be_direct) at.result = static_cast<int>(made_.results_.size());
    made_.results_.push_back({.value = at,
                              .store = store,
                              .element = static_cast<std::int64_t>(size_of(r.type)),
                              .may_be_direct = may_be_direct,
                              .late = read_after(r.value)});
  }

  // The inputs that are read after the step that computes a value.
  std::vector<value_id> read_after(value_id value) const {
    std::vector<value_id> inputs;
    const auto read = [&](value_id id) {
      if (p_.code[id].op == opcode::input || p_.code[id].op == opcode::input_mask) inputs.push_back(p_.code[id].a);
    };
    bool is_after = false;
    for (const planned_step& s : plan_.steps) {
      if (is_after) read(s.value), std::for_each(s.in.begin(), s.in.end(), read);
      is_after |= s.value == value;
    }
    for (const result& r : p_.results) read(r.value);  // it is copied after the last step
    return inputs;
  }

  interpreted& made_;
  const program& p_;
  const int isa_;
  tile_plan plan_;
  std::vector<tile_place> places_;
};

PINION_DECL interpreted::interpreted(const program& p, int isa) {
  preparation prepare(*this, p, isa);
  visit_plain(p.arithmetic, [&]<class T>() {
    prepare.run<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>>();  // masks are computed in bytes
  });
}

// A run over one strip: the memory, and the tile at hand.
struct interpreted::frame {
  const interpreted& program;
  const strip& s;
  std::byte *rows, *sums;  // the sums are a vector for each result
  std::uint32_t direct;    // a bit for each result that its step writes
  std::int64_t at = 0, n = 0;

  std::byte* sum(std::size_t k) const { return sums + k * sizeof(number_vector); }
  bool is_direct(int result) const { return result >= 0 && (direct >> result & 1); }
  std::byte* written(int result) const {
    const auto k = static_cast<std::size_t>(result);
    return static_cast<std::byte*>(s.out[k]) + at * program.results_[k].element;
  }
  std::byte* values(const tile_place& p) const {
    return is_direct(p.result) ? written(p.result) : rows + p.at * program.length_ * program.element_;
  }

  // Sets operand k of a tile.
  void give(tile& t, int k, const tile_place& p) const {
    switch (p.is) {
      case tile_place::row: return set(t, k, values(p), -1);
      case tile_place::number: return set(t, k, program.numbers_[p.at].lanes, 0);
      default: break;
    }
    const std::int64_t moves = s.advance[p.at], element = p.is == tile_place::mask ? 1 : program.element_;
    set(t, k, static_cast<const std::byte*>(s.in[p.at]) + (at & moves) * element, moves);
  }
  static void set(tile& t, int k, const void* in, std::int64_t moves) { t.in[k] = in, t.moves[k] = moves; }
};

PINION_DECL void interpreted::operator()(const strip& s) const {
  const std::int64_t rows = rows_ * length_ * element_;
  std::byte* const memory =
      detail::tile_memory(static_cast<std::size_t>(rows) + results_.size() * sizeof(number_vector));
  frame f{*this, s, memory, memory + rows, direct_results(s)};
  for (std::size_t k = 0; k < results_.size(); ++k)
    if (s.how[k] == sink::sum) std::memset(f.sum(k), 0, sizeof(number_vector));
  for (; f.at < s.n; f.at += length_) {
    f.n = std::min(length_, s.n - f.at);
    run_tile(f);
  }
  finish_sums(f);
}

// The results that steps write. One is left to the end where it lies over an input that is read later.
PINION_DECL std::uint32_t interpreted::direct_results(const strip& s) const {
  std::uint32_t direct = 0;
  for (std::size_t k = 0; k < results_.size(); ++k) {
    if (!results_[k].may_be_direct || s.how[k] != sink::store) continue;
    const auto *const out = static_cast<const std::byte*>(s.out[k]), *const end = out + s.n * element_;
    const auto overlaps = [&](value_id i) {
      const auto* const in = static_cast<const std::byte*>(s.in[i]);
      return s.advance[i] && std::less<>{}(in, end) && std::less<>{}(out, in + s.n * element_);
    };
    const auto& late = results_[k].late;
    if (std::none_of(late.begin(), late.end(), overlaps)) direct |= std::uint32_t{1} << k;
  }
  return direct;
}

PINION_DECL void interpreted::run_tile(const frame& f) const {
  tile t;
  t.n = f.n;
  for (const tile_step& step : steps_) {
    for (int k = 0; k < step.operands; ++k) f.give(t, k, step.in[k]);
    t.out = f.values(step.out);
    step.run(&t);
  }
  for (std::size_t k = 0; k < results_.size(); ++k)
    if (f.s.how[k] != sink::drop && !(f.direct >> k & 1)) write(f, k);
}

PINION_DECL void interpreted::write(const frame& f, std::size_t k) const {
  const tile_result& result = results_[k];
  tile t;
  t.n = f.n;
  t.out = f.s.how[k] == sink::sum ? f.sum(k) : f.written(static_cast<int>(k));
  f.give(t, 0, result.value);
  switch (f.s.how[k]) {
    case sink::drop: return;
    case sink::store: return result.store(&t);
    case sink::sum: return sum_(&t);
    case sink::add:
      f.give(t, 1, result.value);
      f.set(t, 0, t.out, -1);
      return add_(&t);
  }
}

PINION_DECL void interpreted::finish_sums(const frame& f) const {
  tile t;
  for (std::size_t k = 0; k < results_.size(); ++k) {
    if (f.s.how[k] != sink::sum) continue;
    t.in[0] = f.sum(k), t.out = f.s.out[k];
    total_(&t);
  }
}

}}}  // namespace pinion::v0::scalar
