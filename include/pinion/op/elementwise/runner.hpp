// A program ready to run over strips of any length, by the best back end that this binary has for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <pinion/scalar/compiled.hpp>
#include <pinion/scalar/interpreter.hpp>
#include <pinion/scalar/operands.hpp>

namespace pinion { inline namespace v0 { namespace op {

// Immutable once made; the launches of a kernel share it, in any thread. Both back ends work on whole vectors, so the
// elements left over at the end of a strip are computed in a padded copy, by the same instructions: an element's
// result does not depend on its position.
class program_runner {
 public:
  enum back_end { any, interpreter_only };

  explicit program_runner(const scalar::program& p, back_end which = any, int isa = scalar::isa::best())
      : program_(scalar::executable(p)), sizes_(scalar::operand_sizes(program_)) {
    const auto* compiled = which == any ? scalar::find_compiled(program_) : nullptr;
    if (compiled)
      entry_ = (*compiled->entries)[isa];
    else
      interpreted_.emplace(program_, isa);
    lanes_ =
        scalar::isa::bytes(isa) / std::max<std::int64_t>(4, static_cast<std::int64_t>(size_of(program_.arithmetic)));
    visit_plain(program_.arithmetic, [&]<class T>() {
      using A = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
      literals_.resize(program_.literals.size() * sizeof(A) + 1);
      for (std::size_t i = 0; i < program_.literals.size(); ++i) {
        const A value = program_.literals[i].template as<A>();
        std::memcpy(literals_.data() + i * sizeof(A), &value, sizeof(A));
      }
    });
  }
  program_runner(const program_runner&) = delete;

  const scalar::program& program() const { return program_; }
  bool compiled() const { return entry_ != nullptr; }
  // The compiled code, or null, and the numbers that it takes as a strip's literals.
  using entry_function = void (*)(const scalar::strip*);
  entry_function entry() const { return entry_; }
  std::span<const std::byte> literals() const { return std::span(literals_).first(literals_.size() - 1); }

  void operator()(scalar::strip& s) const {
    s.literals = literals_.data();
    const std::int64_t all = s.n, whole = all & -lanes_;  // lanes are a power of 2
    if (whole > 0) {
      s.n = whole;
      run_whole(s);
    }
    if (whole < all) run_rest(s, whole, static_cast<std::size_t>(all - whole));
    s.n = all;
  }

  // The elements of whole vectors that hold n elements; at most n rounded up to a multiple of `scalar::widest`.
  std::int64_t padded(std::int64_t n) const { return (n + lanes_ - 1) & -lanes_; }
  // Runs over whole vectors. Requires: s.n is padded, and the memory of each operand that advances has that many
  // elements.
  void run_padded(scalar::strip& s) const {
    s.literals = literals_.data();
    run_whole(s);
  }

 private:
  static constexpr std::size_t room = scalar::widest * 8;

  void run_whole(const scalar::strip& s) const { entry_ ? entry_(&s) : (*interpreted_)(s); }

  void run_rest(const scalar::strip& s, std::int64_t at, std::size_t n) const {
    alignas(64) std::byte in[scalar::max_inputs][room], out[scalar::max_results][room];
    scalar::strip rest;
    rest.n = lanes_;
    rest.literals = s.literals;
    for (std::size_t k = 0; k < program_.inputs; ++k) {
      rest.in[k] = s.in[k];
      rest.advance[k] = s.advance[k];
      if (!s.advance[k]) continue;
      const std::size_t size = sizes_[k];
      std::memset(in[k], 0, room);
      std::memcpy(in[k], static_cast<const std::byte*>(s.in[k]) + static_cast<std::size_t>(at) * size, n * size);
      rest.in[k] = in[k];
    }
    for (std::size_t k = 0; k < program_.results.size(); ++k) {
      rest.out[k] = out[k];
      rest.how[k] = s.how[k] == scalar::sink::drop ? scalar::sink::drop : scalar::sink::store;
    }
    run_whole(rest);
    for (std::size_t k = 0; k < program_.results.size(); ++k) put_rest(s, k, at, n, out[k]);
  }

  void put_rest(const scalar::strip& s, std::size_t k, std::int64_t at, std::size_t n, const std::byte* from) const {
    if (s.how[k] == scalar::sink::drop) return;
    visit_plain(program_.results[k].type, [&]<class R>() {
      const R* value = reinterpret_cast<const R*>(from);
      R* out = static_cast<R*>(s.out[k]) + (s.how[k] == scalar::sink::sum ? 0 : at);
      if (s.how[k] == scalar::sink::store) {
        std::memcpy(out, value, n * sizeof(R));
        return;
      }
      const std::size_t step = s.how[k] == scalar::sink::sum ? 0 : 1;
      for (std::size_t i = 0; i < n; ++i) out[i * step] = static_cast<R>(out[i * step] + value[i]);
    });
  }

  scalar::program program_;
  const std::vector<std::size_t> sizes_;  // of an element of each operand
  std::int64_t lanes_ = 1;
  entry_function entry_ = nullptr;
  std::optional<scalar::interpreted> interpreted_;
  std::vector<std::byte> literals_;  // and one byte, so that there is an address
};

}}}  // namespace pinion::v0::op
