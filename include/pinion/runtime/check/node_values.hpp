// The values of one run of a node, and the error of a node in which a NaN or an infinity comes to be.
//
//   NaN        of a node none of whose inputs has one. Where an input has one, what brought it is blamed: a feed, or a
//              variable that held it before.
//   infinity   of a node that was given elements, all of them finite. A node that computes of nothing that it was given
//              yields infinities that somebody has meant: constants, feeds, reads of variables, elements of queues. A
//              node that was given one passes it on. An op may say that it makes them on purpose: a maximum over
//              nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/base/error.hpp>
#include <pinion/graph/graph_view.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Are there NaNs and infinities of a dtype?
constexpr bool has_nan(dtype type) {
  return is_floating(type) || type == dtype::half || type == dtype::bfloat16;
}
// Is every element a finite number? Requires: the value is on the host.
bool all_finite(const any_tensor& value);

// The values of one run of a node, on the host. A value is empty where the node reads or yields no element there. The
// inputs that are variables have the values from before the run.
struct node_values {
  std::vector<any_tensor> inputs, outputs;
  std::vector<any_tensor> written;  // of the first inputs, which are variables that the node writes: after the run
};
// Is a value among the outputs and the written variables that is not finite?
bool has_bad_result(const node_values& v);
// The error of the node that is to blame for such a value, with its name and line; nothing where nobody is.
std::optional<error> bad_value(graph_view g, const node& n, const node_values& v);
// The error of a value fed to a node that has a NaN; nothing where it has none.
std::optional<error> bad_feed(const node& n, const any_tensor& value);

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/check/node_values.ipp>
#endif
