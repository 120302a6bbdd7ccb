// Bodies of <pinion/train/session/chief_sign.hpp>.
#pragma once

#include <locale>
#include <sstream>

#include <pinion/graph/called_from.hpp>
#include <pinion/graph/device_guard.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/train/session/chief_sign.hpp>
#include <pinion/train/task_of.hpp>

namespace pinion { inline namespace v0 { namespace train {

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
  for (const node_id id : {note, put, look, here}) g.add_to_collection("chief_sign", id);
  return chief_sign(g);
}

PINION_DECL std::string chief_sign::own_task(session& on) const {
  return task_of(on, here_);
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
  words.imbue(std::locale::classic());
  if (!(words >> note.training >> note.beat >> note.name)) return std::nullopt;
  return note;
}

}}}  // namespace pinion::v0::train
