// Initial values that read other variables: a step that initialises both gives the other its value first.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/draft.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Lets the nodes by which the initial value of a variable reads another variable wait for the initialiser of the other,
// where the step runs it too. A step without it reads the value that the variable has. Returns the number of nodes that
// wait. Initialisers are told by their names, VARIABLE/Assign.
int order_initial_values(draft& d);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/optimize/order_initial_values.ipp>
#endif
