// A plan: the device of every node of a step, the reason, and what the step would take; made before anything runs.
//
// fmt::print("{}\n", plan) shows a line for each node:
//
//   node    op           device                                         reason
//   W       VariableV2   /job:localhost/replica:0/task:0/device:CPU:0   pinned by guard at model.cpp:12
//   W/read  Identity     /job:localhost/replica:0/task:0/device:CPU:0   with W
//   MatMul  MatMul       /job:localhost/replica:0/task:0/device:GPU:0   first device
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <pinion/base/config.hpp>
#include <pinion/graph/node.hpp>
#include <pinion/placement/device_info.hpp>

namespace pinion { inline namespace v0 {

// A node of a plan. Times are estimates of a cost model, in seconds after the step begins. Of a node that does not run,
// sizes and times are 0. Device names are full: "/job:localhost/replica:0/task:0/device:CPU:0".
//
//   requested   "/job:ps"                                     as guards and policies asked
//   device      "/job:ps/replica:0/task:0/device:CPU:0"       as placed
//   reason      "pinned by guard at model.cpp:12"             for a person; see placement/reason.hpp for the kinds
struct placed_node {
  node_id id = no_node;
  std::string name = {}, op = {};
  std::string requested = {};                // as guards and policies gathered it; "" when nobody asked
  std::string device = {};                   // where it is placed
  int device_index = -1;                     // in the plan's devices
  std::string reason = {};                   // "pinned by guard at model.cpp:12", "only kernel", "with W", ...
  std::vector<std::string> refused = {};     // "DEVICE: Neg has no ...": devices that were passed over
  bool fallback = false;                     // soft placement, or a variable it works on, moved it
  std::string location = {};                 // file:line that made it
  std::int64_t bytes_in = 0, bytes_out = 0;  // of values whose shapes are known
  std::int64_t state = 0;                    // bytes of a variable whose shape is known
  double starts = 0, ends = 0;
  std::string optimized = {};   // "folded into add", or why not; "" where it runs as it was made
  bool runs = true;             // false: another node runs in its place, or none
  std::string kernel = {};      // "interpreted", "CUDA by NVRTC", "CUDA in tiles"; "" for plain host code
  std::string unrecorded = {};  // why a GPU's replayed steps launch it by itself; "" where they do not
};

// The load of a device in one step, as estimated. `seconds` is the sum of the nodes' times; a device with several
// threads may be faster.
struct device_total {
  int nodes = 0;               // that run
  std::int64_t variables = 0;  // bytes
  double seconds = 0;          // of work
  std::int64_t peak = 0;       // bytes, of shapes that are known: variables, and values until their last use
};

// A value that crosses from a device to another, once a step. A value that several nodes of one device take is
// transferred once.
struct planned_transfer {
  std::string value;       // "W/read", "split:1"
  int from = -1, to = -1;  // in the plan's devices
  std::int64_t bytes = 0;  // as estimated
};

// An edge between nodes that run, which are given as indices in plan::nodes(). A control edge carries no bytes.
struct planned_edge {
  std::uint32_t from = 0, to = 0;
  std::int64_t bytes = 0;
  bool control = false;
};

// The part of a plan that is about the whole step. `soft` is true for a plan in fallback mode.
struct plan_figures {
  bool soft = false;
  std::vector<device_total> totals = {};  // one for each device
  std::vector<planned_transfer> transfers = {};
  std::vector<planned_edge> edges = {};
  double makespan = 0;                  // seconds
  std::vector<std::string> notes = {};  // what a person should know beside the nodes
};

// The nodes that some fetches need, in the order in which they were made, each with its device. A session's plan is of
// the step that it would run: its rows say which nodes optimization folded into others, and its figures leave these
// out. A value. Its special members are out of line so that a caller compiles no vectors of its parts.
// Thread-compatible; it refers to nothing, and stays valid when graph and session are gone.
//
//   const auto plan = sess.plan(loss, train);
//   fmt::print("{}\n{}", plan, pn::totals_table(plan));
//   for (const auto& n : plan.fallbacks()) fmt::print("{}: {}\n", n.name, n.reason);
class plan {
 public:
  plan();
  plan(const plan&);
  plan(plan&&) noexcept;
  plan& operator=(const plan&);
  plan& operator=(plan&&) noexcept;
  ~plan();
  plan(std::vector<device_info> devices, std::vector<placed_node> nodes, plan_figures figures = {});

  const std::vector<device_info>& devices() const { return devices_; }
  // A node comes behind those that it takes inputs from.
  const std::vector<placed_node>& nodes() const { return nodes_; }
  // A node of the plan, valid as long as the plan; null for a name that it does not hold.
  const placed_node* find(std::string_view name) const;
  // The full device name of a node; not_found where the plan does not hold it. A node that was folded into another one
  // keeps the device that it was given.
  const std::string& device_of(std::string_view name) const;
  // The nodes on devices that do not meet their requests, each with its reason. Empty unless the session allows soft
  // placement, or a variable that a node works on is elsewhere.
  std::vector<placed_node> fallbacks() const;

  // Does the plan loosen requests that cannot be met (fallback mode), rather than refuse them (strict)?
  bool allows_fallback() const { return figures_.soft; }
  // Estimates for one step, by the cost model that the plan was made with. They are in the order of devices().
  const std::vector<device_total>& totals() const { return figures_.totals; }
  const std::vector<planned_transfer>& transfers() const { return figures_.transfers; }
  const std::vector<planned_edge>& edges() const { return figures_.edges; }
  // The time from the beginning of a step to its end, in seconds, with transfers.
  double makespan() const { return figures_.makespan; }
  const std::vector<std::string>& notes() const { return figures_.notes; }
  const plan_figures& figures() const { return figures_; }
  // A note stands in every text form behind the nodes.
  void add_note(std::string note);

  // {"mode", "makespan", "devices": [...], "nodes": [...], "transfers": [...], "notes": [...]}. Names are escaped;
  // numbers are those of the rows, in bytes and seconds.
  std::string to_json() const;
  // Graphviz: the nodes that run, in a cluster for each task and in that for each device; edges between devices are
  // drawn thick.
  //
  //   std::ofstream("plan.dot") << sess.plan(loss).to_dot();         // then: dot -Tsvg plan.dot -o plan.svg
  std::string to_dot() const;
  // An HTML page without outside parts: totals, a timeline, the nodes with their reasons, transfers, notes.
  //
  //   std::ofstream("plan.html") << sess.plan(loss).to_html();
  std::string to_html() const;

 private:
  [[noreturn]] void refuse_name(std::string_view name) const;

  std::vector<device_info> devices_;
  std::vector<placed_node> nodes_;
  plan_figures figures_;
};

// An aligned table of node, op, device and reason, behind which stands what optimization made of the node; then the
// notes.
std::string to_string(const plan& p);

// An aligned table of what a step would take, a line for each device, and a line about transfers.
std::string totals_table(const plan& p);

}}  // namespace pinion::v0

template <>
struct fmt::formatter<pinion::plan> : fmt::formatter<fmt::string_view> {
  template <class Context>
  auto format(const pinion::plan& p, Context& context) const {
    return fmt::formatter<fmt::string_view>::format(to_string(p), context);
  }
};

#if PINION_HEADER_ONLY
#include <pinion/placement/plan/dot.ipp>
#include <pinion/placement/plan/html.ipp>
#include <pinion/placement/plan/json.ipp>
#include <pinion/placement/plan/plan.ipp>
#endif
