// The shapes of the values of a step before it runs, with symbols for the extents that nobody knows yet.
//
//   x [A, 784], W [784, 160]      x W + b  [A, 160]
//   p [A, 10], q [B, 10]          p + q    [AB, 10], where AB is the extent that A and B broadcast to
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/opkit/draft.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The shapes of all outputs of a draft, as it was when they were found. Equal extents are equal in every run in which
// no node fails; different ones may be equal, too. A value. Used by one thread.
class symbolic_shapes {
 public:
  // An extent: a number, or a symbol, which is at most shape::first_symbol.
  using extents = std::vector<std::int64_t>;

  explicit symbolic_shapes(const draft& d);

  // The shape of an output; null where its rank is unknown.
  const extents* of(output o) const;
  // The shape that some outputs broadcast to; nothing where a rank is unknown.
  std::optional<extents> space_of(std::span<const output> inputs);
  // True if the outputs broadcast in every run. Requires: the node that reads them all could be made.
  bool surely_broadcast(std::span<const output> inputs) const;

 private:
  using all_extents = std::vector<std::optional<extents>>;  // of the outputs of a node

  // The shapes of a node's outputs as its op infers them from those of the inputs, with `unknown` where it says
  // nothing.
  std::vector<shape> inferred(const draft& d, const node& n);
  // The declared shape, with what the op has inferred of unknown extents, or a symbol of their own for each.
  std::optional<extents> as_declared(const shape& s, const shape& said);
  std::int64_t fresh_symbol() { return symbol_of({next_++}); }
  std::int64_t symbol_of(std::vector<int> parts);
  std::int64_t joined(std::int64_t a, std::int64_t b);

  std::vector<all_extents> known_;
  std::vector<std::vector<int>> parts_;  // of each symbol: those it was made of by broadcasting, in order
  std::map<std::vector<int>, std::int64_t> symbols_;
  int next_ = 0;
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/elementwise/symbolic_shapes.ipp>
#endif
