// A program that is too great for one node, as several that are not.
//
// Some of its values get a program of their own; all programs behind it take them as inputs. A value that several
// programs need and that has none of its own is computed by each of them.
#pragma once

#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

// A part of a program: its inputs are those of the whole, or values of pieces before it.
struct piece {
  struct source {
    bool of_piece;
    int index;  // of that piece, or of the input of the whole
  };
  program code;
  std::vector<source> inputs;
  std::vector<int> results;  // of the whole, that are its results; none: its result is a value that others take
};

// Pieces within bounds that together compute the whole. Where `beside` is given, the piece with result k has input
// beside[k] of the whole among its first inputs, at the place that the result has among its own. Beyond the bounds are
// pieces of a program that states derivatives by dozens of operands in one chain: that is not cut.
std::vector<piece> cut(const program& whole, const std::vector<value_id>& beside = {},
                       const program_bounds& bounds = {});

}}}  // namespace pinion::v0::scalar

#if PINION_HEADER_ONLY
#include <pinion/scalar/cut.ipp>
#endif
