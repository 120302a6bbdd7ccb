// The sizes of the scalar programs of nodes.
#pragma once

#include <string>

#include <pinion/opkit/shape_context.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// The longest backward program that is differentiated by all its inputs at once. Of a longer one, such as that of a
// power of two expressions, the inputs that do not matter would cost more than to interpret the rest.
inline constexpr std::size_t most_differentiated_again = 16;

// Fails for a program that kernels have no room for.
inline void check_program_size(const shape_context& c, const scalar::program& p) {
  constexpr scalar::program_bounds most{};
  if (!scalar::within(p))
    c.fail("the program of " + c.op() + " has " + std::to_string(p.code.size()) + " instructions, " +
           std::to_string(p.inputs) + " inputs and " + std::to_string(p.results.size()) + " results; one node takes " +
           std::to_string(most.instructions) + ", " + std::to_string(most.inputs) + " and " +
           std::to_string(most.results) + " at most");
}

}}}}  // namespace pinion::v0::op::detail
