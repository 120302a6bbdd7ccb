// Building the body of a node of control flow, and what it draws in from the graphs around it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/body.hpp>
#include <pinion/graph/scope_state.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

// An output and its graph.
struct endpoint {
  graph* of = nullptr;
  output what = {};
};

// While it lives, nodes of this thread are built in a body of its own, under the guards that were open and a name
// prefix. A value of the graph around it becomes an argument when it is used in the body; a variable is named there
// again. Bodies nest.
class body_trace {
 public:
  explicit body_trace(const std::string& prefix);
  body_trace(const body_trace&) = delete;
  ~body_trace();

  body& made() { return *made_; }
  std::shared_ptr<body> share() const { return made_; }
  // What was drawn in, in the graph around the body and in the body.
  struct drawn {
    output outside, inside;
  };
  const std::vector<drawn>& drawn_in() const { return drawn_; }

  // The trace whose body is the thread's default graph; null where there is none.
  static body_trace* current();
  // Is that graph one of those around the body?
  bool lies_in(const graph& owner) const;
  // Do control dependencies hold where the body's node will stand, or around that?
  bool waits_outside() const { return saved_.control || (previous_ && previous_->waits_outside()); }
  // Builds something there, rather than in the body.
  template <class F>
  auto outside(F&& build_there) {
    struct step_out {
      body_trace& t;
      explicit step_out(body_trace& trace) : t(trace) { swap(t.previous_); }
      ~step_out() { swap(&t); }
      void swap(body_trace* innermost) {
        std::swap(scope_state::current(), t.saved_);
        std::swap(scope_state::current().caller, t.saved_.caller);  // the call is the same there
        make_innermost(innermost);
      }
    };
    const step_out here(*this);
    return build_there();
  }
  // What stands in the body for an output of such a graph.
  output draw(graph& owner, output o);

 private:
  output name_again(const node& state);
  static void make_innermost(body_trace* t);

  std::shared_ptr<body> made_;
  graph* around_;
  body_trace* previous_;
  scope_state saved_;
  std::vector<drawn> drawn_;
};

// The body being built, where `owner` lies around it; `owner` itself otherwise.
graph* graph_in_use(graph& owner);
// An output as that graph has it.
endpoint drawn_in(graph& owner, output o);

}}}  // namespace pinion::v0::dsl

#if PINION_HEADER_ONLY
#include <pinion/dsl/trace.ipp>
#endif
