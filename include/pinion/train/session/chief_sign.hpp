// The sign of the chief: a line of text in the cluster, beside the global step, by which others know that it is there,
// and a chief that is started again knows its own variables.
//
//   "11743250317722 84 /job:worker/replica:0/task:0"
//    training       beat  name
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <pinion/dsl/sources.hpp>
#include <pinion/runtime/session.hpp>

namespace pinion::inline v0::train {

// The text of the sign, taken apart. A value.
struct chief_note {
  static constexpr std::int64_t ended = -1;

  std::uint64_t training = 0;  // whose variables these are
  std::int64_t beat = 0;       // another one each time, while the chief is there; `ended` once training is over
  std::string name = {};       // of the chief's task
};

// The nodes of the sign in a graph, on the task of the global step; they are in no collection, so that it is neither
// initialised nor saved with the variables. Refers to the graph. Thread-safe.
class chief_sign {
 public:
  // Makes them in the default graph, unless it has them. Nothing where it has no global step, or takes no more nodes.
  PINION_DECL static std::optional<chief_sign> of_default_graph(
      source_location where = source_location::current());

  PINION_DECL void put(session& on, const chief_note& note) const;
  // Nothing where no chief has put one, or none that can be read.
  PINION_DECL std::optional<chief_note> look(session& on) const;
  // The name of the session's own task.
  PINION_DECL std::string own_task(session& on) const;

 private:
  // Finds its nodes in the collection "chief_sign".
  PINION_DECL explicit chief_sign(graph& g);
  expr<std::string> note_;  // to be fed
  operation put_;
  expr<std::string> text_;
  operation here_;  // asks for no device
};

}  // namespace pinion::inline v0::train

#if PINION_DEFINE_RUNTIME
#include <sstream>

#include <pinion/graph/called_from.hpp>
#include <pinion/graph/device_guard.hpp>
#include <pinion/graph/scopes.hpp>

namespace pinion::inline v0::train {

PINION_DECL chief_sign::chief_sign(graph& g) {
  const auto& made = g.collection("chief_sign");
  note_ = {g, {made[0], 0}};
  put_ = {g, made[1]};
  text_ = {g, {made[2], 0}};
  here_ = {g, made[3]};
}

PINION_DECL std::optional<chief_sign> chief_sign::of_default_graph(source_location where) {
  graph& g = default_graph();
  if (!g.collection("chief_sign").empty()) return chief_sign(g);
  if (g.collection("global_step").empty() || g.finalized()) return std::nullopt;
  const node step = g[g.collection("global_step")[0]];
  const called_from line(where);
  const name_scope root("");
  const control_dependencies nothing{nullptr};
  const container same(step.attrs.get_or<std::string>("container", ""));
  const device no_other{nullptr, where};
  const auto make = [&](std::string_view op, const char* name, std::vector<output> inputs, attributes attrs) {
    return build(g, {.op = op, .base_name = name, .inputs = std::move(inputs), .attrs = std::move(attrs)});
  };
  const node_id here = make(op::no_op::name, "chief/here", {}, {});
  const device_spec& asked = step.requested;
  const device there(
      device_spec{}.with_job(asked.job()).with_replica(asked.replica()).with_task(asked.task()).with_type("CPU"),
      where);
  const attributes text{{"dtype", dtype::string}, {"shape", shape{}}};
  attributes state = text;
  state.set("shared_name", std::string("chief/sign"));
  const node_id note = make(op::placeholder::name, "chief/note", {}, text);
  const node_id sign = make(op::variable::name, "chief/sign", {}, state);
  const node_id put = make(op::assign::name, "chief/put", {{sign, 0}, {note, 0}}, {});
  const node_id look = make(op::identity::name, "chief/look", {{sign, 0}}, {});
  g.settle();
  for (const node_id id : {note, put, look, here}) g.add_to_collection("chief_sign", id);
  return chief_sign(g);
}

PINION_DECL std::string chief_sign::own_task(session& on) const {
  const device_spec where = parse_device(on.plan(here_).device_of(here_.name()));
  return to_string(where.with_type("").with_index(-1));
}

PINION_DECL void chief_sign::put(session& on, const chief_note& note) const {
  const std::string line = std::to_string(note.training) + " " + std::to_string(note.beat) + " " + note.name;
  on.run(run_request{.feeds = {{note_, tensor<std::string>(line)}}, .targets = {put_}});
}

PINION_DECL std::optional<chief_note> chief_sign::look(session& on) const {
  std::string line;
  try {
    line = std::string(on.run(text_));
  } catch (const error& e) {
    if (e.code() != errc::failed_precondition) throw;
    return std::nullopt;
  }
  chief_note note;
  std::istringstream words(line);
  if (!(words >> note.training >> note.beat >> note.name)) return std::nullopt;
  return note;
}

}  // namespace pinion::inline v0::train
#endif
