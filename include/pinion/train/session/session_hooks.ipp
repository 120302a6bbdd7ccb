// Bodies of <pinion/train/session/session_hooks.hpp>.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include <pinion/files/folder.hpp>
#include <pinion/train/hooks/checkpoint_saver.hpp>
#include <pinion/train/hooks/step_counter.hpp>
#include <pinion/train/hooks/summary_saver.hpp>
#include <pinion/train/session/session_hooks.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL void fill_in(monitored_session_options& o) {
  const auto never = [](auto& value) {
    if (value && *value == 0) value.reset();
  };
  const bool default_checkpoints = !o.save_checkpoint_secs && !o.save_checkpoint_steps;
  const bool default_summaries = !o.save_summaries_secs && !o.save_summaries_steps;
  if (default_checkpoints) o.save_checkpoint_secs = 600;
  if (default_summaries) o.save_summaries_steps = 100;
  never(o.save_checkpoint_secs);
  never(o.save_checkpoint_steps);
  never(o.save_summaries_secs);
  never(o.save_summaries_steps);
  o.checkpoint_dir = files::absolute_path(o.checkpoint_dir).string();
  o.summary_dir = o.summary_dir.empty() ? o.checkpoint_dir : files::absolute_path(o.summary_dir).string();
  if (!o.scaffold.saver) o.scaffold.saver = std::make_shared<saver>();
}

namespace detail {

inline void add_chief_hooks(std::vector<any_hook>& hooks, const monitored_session_options& o, graph& g) {
  hooks.insert(hooks.end(), o.chief_only_hooks.begin(), o.chief_only_hooks.end());
  const bool writes = !o.summary_dir.empty(), counts = o.log_step_count_steps.value_or(100) > 0;
  const bool summaries = writes && (o.save_summaries_secs || o.save_summaries_steps);
  std::shared_ptr<summary_writer> writer;
  if ((writes && counts) || summaries) writer = std::make_shared<summary_writer>(o.summary_dir);
  if (counts && (writes || !g.collection("global_step").empty()))
    hooks.push_back(step_counter({.every_n_steps = o.log_step_count_steps.value_or(100),
                                  .writer = writer,
                                  .log = o.log,
                                  .least_secs = o.log_step_count_steps ? 0. : 1.,
                                  .warn = o.log}));
  if (summaries)
    hooks.push_back(summary_saver({.save_steps = o.save_summaries_steps,
                                   .save_secs = o.save_summaries_secs,
                                   .writer = writer,
                                   .summary_op = o.scaffold.summary_op,
                                   .warn = o.log}));
}

}  // namespace detail

PINION_DECL session_hooks::session_hooks(const monitored_session_options& o, graph& g) {
  if (o.is_chief) detail::add_chief_hooks(hooks_, o, g);
  hooks_.insert(hooks_.end(), o.hooks.begin(), o.hooks.end());
  if (o.is_chief && !o.checkpoint_dir.empty() && (o.save_checkpoint_secs || o.save_checkpoint_steps))
    hooks_.push_back(checkpoint_saver({.dir = o.checkpoint_dir,
                                       .save_steps = o.save_checkpoint_steps,
                                       .save_secs = o.save_checkpoint_secs,
                                       .saver = o.scaffold.saver,
                                       .max_failed_saves = o.max_failed_saves,
                                       .alone = o.master.empty(),  // on a cluster, a sign tells who is the chief
                                       .log = o.log,
                                       .warn = o.log}));
}

PINION_DECL void session_hooks::begin() const {
  for (const any_hook& h : hooks_) h.begin();
}

PINION_DECL void session_hooks::after_create_session(session& s, coordinator& c) const {
  for (const any_hook& h : hooks_) h.after_create_session(s, c);
}

PINION_DECL std::exception_ptr session_hooks::end(session& s) const {
  std::exception_ptr failed;
  for (const any_hook& h : hooks_) try {
      h.end(s);
    } catch (...) {
      if (!failed) failed = std::current_exception();
    }
  return failed;
}

PINION_DECL session_hooks::ran session_hooks::run(session& on, const run_request& request,
                                                  const std::function<void(run_request&)>& complete) const {
  run_context context(on, request);
  run_request all = request;
  std::vector<std::size_t> first;   // the place of each hook's first value among the fetches
  std::vector<step_trace*> traces;  // traces that hooks want, besides the caller's own
  for (const any_hook& h : hooks_) {
    run_request more = h.before_run(context);
    first.push_back(all.fetches.size());
    all.feeds.insert(all.feeds.end(), more.feeds.begin(), more.feeds.end());
    all.fetches.insert(all.fetches.end(), more.fetches.begin(), more.fetches.end());
    all.targets.insert(all.targets.end(), more.targets.begin(), more.targets.end());
    if (more.trace) traces.push_back(more.trace);
    all.check_values |= more.check_values;
  }
  first.push_back(all.fetches.size());
  complete(all);
  step_trace trace;
  if (!all.trace && !traces.empty()) all.trace = &trace;
  ran result{on.run(all)};
  for (step_trace* const wanted : traces) *wanted = *all.trace;
  for (std::size_t i = 0; i < hooks_.size(); ++i) try {
      hooks_[i].after_run(context, std::span(result.values).subspan(first[i], first[i + 1] - first[i]));
    } catch (const error& e) {
      if (!is_recoverable(e)) throw;
      if (!result.lost) result.lost = e;
    }
  result.stop_requested = context.stop_requested();
  return result;
}

}}}  // namespace pinion::v0::train
