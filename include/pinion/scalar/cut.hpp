// Cuts a program that is too large for one node into several that are not.
//
// Some of its values get a program of their own, and all programs behind it take these values as inputs. A value that
// several programs need and that has no program of its own is computed by each of them.
#pragma once

#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

// A part of a program. Its inputs are inputs of the whole, or values of earlier pieces.
struct piece {
  struct source {
    bool of_piece;
    int index;  // the number of the piece, or of the input of the whole
  };
  program code;
  std::vector<source> inputs;
  std::vector<int> results;  // the results of the whole that it computes; empty: it computes a value for other pieces
};

// Cuts a program into pieces within bounds that together compute the whole. Where `beside` is given, the piece with
// result k has input beside[k] of the whole among its first inputs, in the order of its results. One kind of piece may
// exceed the bounds: a chain that states derivatives for dozens of operands is not cut.
std::vector<piece> cut(const program& whole, const std::vector<value_id>& beside = {},
                       const program_bounds& bounds = {});

}}}  // namespace pinion::v0::scalar

#if PINION_HEADER_ONLY
#include <pinion/scalar/cut.ipp>
#endif
