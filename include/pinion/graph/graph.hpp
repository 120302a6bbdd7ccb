// A graph: nodes in the order in which they were made, unique names, collections.
//
// Invariants
//   1. An edge leads from an earlier node to a later one.
//   2. A settled node is never changed again. An unsettled one is an elementwise node whose name and device nobody has
//      asked for yet; its consumer may absorb it, and then it was never there.
//   3. Unsettled nodes settle in the order in which they were made.
#pragma once

#include <atomic>
#include <map>
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
inline char attachment_key = 0;  // its address tells types apart
}  // namespace detail

// Owned by the user and referred to by every expression and session made on it, which it must outlive. Not copied, not
// moved. One thread builds at a time; any number may run a graph that nobody is building.
class graph {
 public:
  // Where a graph is, for those that refer to it; null when it is gone.
  struct life {
    std::atomic<graph*> at{nullptr};
  };

  graph();
  graph(const graph&) = delete;
  ~graph();
  graph& operator=(const graph&) = delete;
  const std::shared_ptr<life>& lives() const { return life_; }

  // Makes this the default graph of the thread, with empty scopes, until the returned guard goes.
  PINION_GUARD default_scope as_default();

  // Every node that is there, by id. Ids are dense but for absorbed nodes, which `contains` tells.
  node_id size() const;
  bool contains(node_id id) const;
  const node& operator[](node_id id) const;
  std::optional<node_view> find(std::string_view name) const;
  node_id id_of(std::string_view name) const;
  const output_type& type_of(output o) const;

  // Collections: ids under a well-known name ("variables", "trainable_variables", "losses", ...), in order.
  const std::vector<node_id>& collection(const std::string& name) const;
  void add_to_collection(const std::string& name, node_id id);

  // What layers above keep with the graph: one object of each type, made on first use and gone with the graph.
  template <class T>
  T& attached() {
    std::shared_ptr<void>& held = attachment(&detail::attachment_key<T>);
    if (!held) held = std::make_shared<T>();
    return *static_cast<T*>(held.get());
  }

  // The policies of the guards that were opened on this graph, in order.
  const std::vector<std::shared_ptr<const guard_use>>& policies() const;
  void add_policy(std::shared_ptr<const guard_use> p);
  // The plain guards: one for each line that opened any.
  const std::map<std::pair<std::string_view, unsigned>, std::shared_ptr<guard_use>>& guards() const;
  std::shared_ptr<guard_use> guard_at(source_location where);

  // Variables that got another name than they were given, as that was taken: both names, in order.
  const std::vector<std::pair<std::string, std::string>>& renamed() const;
  void note_renamed(std::string name, std::string wanted);

  // From now on, until it is lifted, adding a node throws failed_precondition: whoever runs the graph in a loop and
  // builds in it would slow down step by step.
  void finalize(bool finalized = true);
  bool finalized() const;

  // Appends a node under a name made unique from its base_name. An unsettled one waits for its name and device.
  node_id add(node n, bool may_be_absorbed);

  // Appends a node as it stands, named and settled, or a hole where one was absorbed: for replicas of graphs that are
  // built elsewhere. Requires: its name is new, and its inputs are earlier nodes.
  void adopt(std::optional<node> n);

  // Takes an unconsumed elementwise node out again; its consumer has its inputs now.
  void absorb(node_id id);
  // A node as it stands, settled or not: for those who build.
  const node& peek(node_id id) const;

  // Lays a spec over the request of a node, as if it were its innermost guard.
  void pin(node_id id, const device_spec& spec, const std::string& where);

  // Gives every node made so far its name and its device. Called by whoever looks, and when a scope closes.
  // Several threads may look at once.
  void settle() const;

  // The same where nothing may be thrown: what a policy throws is kept, and thrown to the next who looks.
  void settle_before_closing() noexcept;

  // "mul" -> "mul", then "mul_1", "mul_2"; names differ by more than case.
  std::string unique_name(const std::string& base);

 private:
  struct records;  // in graph.ipp: its containers are not for everybody who builds a graph to compile
  std::shared_ptr<void>& attachment(const void* key);

  const std::shared_ptr<life> life_;
  const std::unique_ptr<records> records_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/graph.ipp>
#endif
