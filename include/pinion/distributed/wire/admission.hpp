// What a node from elsewhere must be before it joins a graph: shape functions and kernels trust who builds, and nobody
// vouches for what comes over the wire.
#pragma once

#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Throws an error that names the node, unless it may be appended to the graph. Its outputs are then those that its own
// op infers.
void admit(const graph& g, node& n);

// The same for a stub: a node that is computed elsewhere, of which no more than the outputs are known.
void admit_stub(const graph& g, node& n);

namespace detail {

void expect(bool holds, const std::string& otherwise);

// Whatever the check throws names the node.
template <class Check>
void naming(const node& n, Check&& check) {
  try {
    check();
  } catch (error& e) {
    throw e.at_node(n.name, n.op, to_string(n.where));
  }
}

}  // namespace detail

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/admission.ipp>
#endif
