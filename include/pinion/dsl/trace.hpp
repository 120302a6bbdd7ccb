// Building the body of a cond or while_loop, and recording the values that it uses from the graphs around it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/body.hpp>
#include <pinion/graph/scope_state.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

// An output together with its graph. A value; refers to the graph.
struct endpoint {
  graph* of = nullptr;
  output what = {};
};

// While this object lives, the thread builds its nodes in a body. The guards that were open stay in force, and names
// get a prefix. A value of the graph around the body becomes an argument of it on first use; a variable gets a second
// node with the same state. Bodies nest. Stays on the thread that made it, and is destroyed in reverse order of
// construction. Users meet it through cond and while_loop. An op with bodies of its own uses it as these do, in
// op/control/functions.hpp: begin a trace, add arguments, call the user's function, take its results, and read
// captures() for the values to pass.
class body_trace {
 public:
  // Begins a body of a node that will stand in the graph `around`. Names of its nodes begin with `prefix` and '/'.
  body_trace(graph& around, const std::string& prefix);
  body_trace(const body_trace&) = delete;
  ~body_trace();

  // The body that is being built. It lives as long as the trace, and as long as somebody has share()d it.
  body& made() { return *made_; }
  // The op that runs the body keeps it by this, in an attribute.
  std::shared_ptr<body> share() const { return made_; }
  // A value that the body uses from outside: its output in the graph around the body, and that in the body.
  struct capture {
    output outside, inside;
  };
  // The values used from outside so far, in the order of their first use. Outputs of queues and variables are among
  // them, too, and are no arguments: the body has nodes of its own for these.
  const std::vector<capture>& captures() const { return captures_; }

  // The innermost trace, if its body is the thread's default graph; null otherwise. A thread that has stepped out of
  // the body, by outside() or graph::as_default(), is in none.
  static body_trace* current();
  // Tells whether `owner` is one of the graphs around the body.
  bool lies_in(const graph& owner) const;
  // Tells whether control dependencies are open where the body's node will stand, or around that. A read of a variable
  // is then made around the body, where it can wait.
  bool waits_outside() const { return saved_.control || (previous_ && previous_->waits_outside()); }
  // Calls `build_there` with the graph around the body as the default graph.
  template <class F>
  auto outside(F&& build_there) {
    struct step_out {
      body_trace& t;
      explicit step_out(body_trace& trace) : t(trace) { swap(t.previous_); }
      ~step_out() { swap(&t); }
      void swap(body_trace* innermost) {
        std::swap(scope_state::current(), t.saved_);
        std::swap(scope_state::current().caller, t.saved_.caller);  // the user's call is the same outside
        make_innermost(innermost);
      }
    };
    const step_out here(*this);
    return build_there();
  }
  // The output in the body that stands for an output of a graph around it. Records it on first use. Throws
  // unimplemented for a state that is made of inputs, which cannot be named again. Requires: lies_in(owner).
  output draw(graph& owner, output o);

 private:
  output name_again(const node& state);
  static void make_innermost(body_trace* t);

  std::shared_ptr<body> made_;
  graph* around_;
  body_trace *innermost_before_, *previous_ = nullptr;
  std::unique_ptr<default_scope> use_;  // of the graph around the body, where it is not the default graph
  scope_state saved_;
  std::vector<capture> captures_;
};

// The innermost body, if `owner` lies around it; otherwise `owner` itself. Functions that make nodes from operands
// build there, so that an operand from around a body yields a node in the body.
graph* graph_in_use(graph& owner);
// The output, and its graph, that stands for `o` in the graph in use.
endpoint captured_in(graph& owner, output o);

}}}  // namespace pinion::v0::dsl

#if PINION_HEADER_ONLY
#include <pinion/dsl/trace.ipp>
#endif
