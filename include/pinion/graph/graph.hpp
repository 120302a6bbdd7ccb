// A graph: nodes in the order in which they were made, with unique names, and collections of them.
//
// Invariants
//   1. An edge leads from an earlier node to a later one.
//   2. A settled node has its name and its device, and keeps them; what change() is for adds to its request later. Only
//      elementwise nodes are unsettled, until somebody asks for a name or a device.
//   3. Unsettled nodes settle in the order in which they were made.
//   4. An elementwise node that nothing reads may be absorbed by its first consumer; its id is then unused.
//   5. A const graph does not change. graph_view shows the nodes of a graph, settled, to code that reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/device_scope.hpp>
#include <pinion/graph/node.hpp>

namespace pinion { inline namespace v0 {

class default_scope;

namespace detail {
template <class>
inline constexpr char attachment_key = 0;  // its address is the key of a type
}  // namespace detail

// Owned by the user; every expression and session made on it refers to it, and it must outlive their use. Neither
// copied nor moved. One thread builds at a time; any number of threads may run a graph that nobody is building.
//
// Most programs need no graph of their own: each thread has a default graph, in which constants, variables and
// placeholders are made, and ops are made in the graph of their operands. A graph of one's own keeps several models, or
// tests, apart:
//
//   pn::graph g;
//   const auto use = g.as_default();                       // until the end of the block
//   auto x = pn::placeholder<float>({3}, "x");
//   pn::session sess{{.graph = &g}};
//
// Memory grows with nodes that are made and is freed with the graph. A handle that is used afterwards throws
// failed_precondition; session and expressions notice it.
class graph {
 public:
  // The address of a graph, shared with its handles; null once the graph is destroyed.
  struct life {
    std::atomic<graph*> at{nullptr};
  };

  graph();
  graph(const graph&) = delete;
  ~graph();
  graph& operator=(const graph&) = delete;
  const std::shared_ptr<life>& lives() { return life_; }

  // Makes this the default graph of the thread, with no scopes open, until the returned guard is destroyed.
  // Guards of one thread nest. The guard stack begins empty inside, so device guards outside do not reach in.
  PINION_GUARD default_scope as_default();

  // Access to nodes by id and by name. Ids are dense except for those of absorbed nodes, for which contains() is false.
  // It is one more than the greatest id, so ids of absorbed nodes count.
  node_id size() const;
  bool contains(node_id id) const;
  // A node, read through a view of the graph, which settles it. Requires: the id is below size().
  const node& operator[](node_id id);
  // A node by its name, or its id; nullopt and no_node where there is none. Settles the graph first.
  // The view is valid until a node is added. Names are full, with their scopes: "layer_1/kernel".
  std::optional<node_view> find(std::string_view name);
  node_id id_of(std::string_view name);
  // The type of an output, settled or not.
  const output_type& type_of(output o) const;

  // Collections: ids under a well-known name ("variables", "trainable_variables", "losses", ...), in order.
  // A name that nothing was added to has no nodes.
  const std::vector<node_id>& collection(const std::string& name) const;
  // Adds a node to a collection, which is made on first use.
  void add_to_collection(const std::string& name, node_id id);

  // An object of type T that a layer above keeps with the graph: made on first use, and destroyed with the graph.
  // T is default-constructible. Thread-compatible, as the graph is.
  template <class T>
  T& attached() {
    std::shared_ptr<void>& held = attachment(&detail::attachment_key<T>);
    if (!held) held = std::make_shared<T>();
    return *static_cast<T*>(held.get());
  }

  // The policies of the guards opened on this graph, in order.
  const std::vector<std::shared_ptr<const guard_use>>& policies() const;
  void add_policy(std::shared_ptr<const guard_use> p);
  // The plain guards opened on this graph: one for each source line, in the order of files and lines.
  std::vector<std::shared_ptr<const guard_use>> guards() const;
  std::shared_ptr<guard_use> guard_at(source_location where);

  // Variables whose wanted name was taken: the name given, and the name wanted, in order.
  const std::vector<std::pair<std::string, std::string>>& renamed() const;
  void note_renamed(std::string name, std::string wanted);

  // Settles the graph; then, adding a node throws failed_precondition until finalize(false). It finds programs that
  // build nodes in their training loop, which makes each step slower than the one before.
  void finalize(bool finalized = true);
  // Tells whether nodes may no longer be added.
  bool finalized() const;

  // Appends a node under a unique name made from its base_name. With may_be_absorbed it stays unsettled.
  node_id add(node n, bool may_be_absorbed);

  // Appends a node as it stands, named and settled, or an unused id in place of an absorbed one: for copies of a graph
  // that was built elsewhere. Requires: the name is new, and the inputs are earlier nodes.
  void adopt(std::optional<node> n);

  // Removes an elementwise node that has no consumer; the node that absorbs it takes over its inputs.
  void absorb(node_id id);
  // A node as it stands, settled or not, for code that builds. By name it is found once it is settled; no_node where no
  // settled node has that name.
  const node& peek(node_id id) const;
  node_id peek(std::string_view name) const;

  // A node whose request or attributes are about to change, for place() and for training in mixed precision. Settles
  // the graph first. A session that has run the node, or has sent it to a server, keeps it as it was. Requires: the
  // node still is what its op infers.
  node& change(node_id id);

  // Counts the nodes added and absorbed, and the requests changed. Whatever is derived from a graph holds while this
  // number stays the same.
  std::uint64_t changes() const;

  // Gives every node made so far its name and its device, as scopes do before they open or close, since these depend on
  // the scopes of a node. Throws the first fault of a policy that was asked for a device since the last call. Several
  // threads may call it at once where nobody builds.
  void settle();
  // Tells whether every node is settled, and no fault waits to be thrown.
  bool settled() const;

  // Settles without throwing: an exception of a policy is kept, and the next settle() throws it.
  void settle_before_closing() noexcept;

  // The first unused name among "mul", "mul_1", "mul_2", ... Names that differ in case only count as equal.
  // It is taken by this call: a second call with the same base yields another name.
  std::string unique_name(const std::string& base);

 private:
  struct records;  // in graph.ipp, so that its containers are compiled there only
  std::shared_ptr<void>& attachment(const void* key);
  const records& kept() const { return *records_; }

  const std::shared_ptr<life> life_;
  const std::unique_ptr<records> records_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/graph.ipp>
#endif
