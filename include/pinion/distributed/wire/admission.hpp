// Checks a node from the wire before it joins a graph. Shape functions and kernels trust the graph they are given, and
// a peer is not trusted.
#pragma once

#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Who made a node: a client, as its program wrote it, or a master, whose optimization may have rewritten it.
enum class made_by { client, master };

// Throws an error that names the node, unless the node may be appended to the graph. Replaces its outputs by those that
// its op infers. Only what the op lists is allowed: inputs, references, attributes with their kinds and sizes, and of
// a client nothing that optimization alone makes. The op's own `infer` checks how they go together.
void admit(const graph& g, node& n, made_by who);

// Checks a stub: a node that is computed elsewhere, of which only the outputs are known.
void admit_stub(const graph& g, node& n);

namespace detail {

void expect(bool holds, const std::string& otherwise);

// Runs a check and adds the node to the error it throws.
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
