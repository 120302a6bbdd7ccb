// Which ops compute on memory that another process may change meanwhile (tensor/lent.hpp).
#pragma once

#include <string_view>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// Does the kernel of an op do no harm where elements of its inputs change while it runs, but yield other numbers? For
// other ops, and those of users, a step copies such inputs first.
bool bears_changing_inputs(std::string_view op);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/changing_inputs.ipp>
#endif
