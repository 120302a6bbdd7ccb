// Bodies of <pinion/train/hooks/summary_saver.hpp>.
#pragma once

#include <utility>

#include <pinion/files/folder.hpp>
#include <pinion/train/hooks/summary_saver.hpp>
#include <pinion/train/summary/summary.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_HOLD_HOOK(summary_saver)

PINION_DECL summary_saver::summary_saver(summary_saver_options o)
    : o_(std::move(o)), timer_(o_.save_steps, o_.save_secs, "summary_saver"), file_("summaries", o_.warn, true) {
  if (!o_.writer && o_.dir.empty())
    throw error(errc::invalid_argument, "summary_saver was given neither dir nor writer");
  o_.dir = files::absolute_path(o_.dir).string();
}

PINION_DECL void summary_saver::begin() {
  step_.begin();
  if (o_.summary_op.empty() && !default_graph().collection(std::string(summary::all)).empty())
    o_.summary_op = summary::merge_all();
  if (!o_.writer) o_.writer = std::make_shared<summary_writer>(o_.dir);
}

PINION_DECL void summary_saver::after_create_session(session& s, coordinator&) {
  next_ = step_.read(s);
  file_.survive([&] {
    o_.writer->add_session_log(session_mark::start, next_);
    if (!std::exchange(has_graph_, true)) o_.writer->add_graph(s.graph());
  });
  timer_.reset();
}

PINION_DECL run_request summary_saver::before_run(run_context&) {
  run_request r = step_.request();
  asked_ = !o_.summary_op.empty() && timer_.due(next_);
  if (asked_) r.fetches.push_back(o_.summary_op);
  return r;
}

PINION_DECL void summary_saver::after_run(run_context&, std::span<const any_tensor> values) {
  const std::int64_t now = step_.fetched(values);
  if (asked_) {
    timer_.done(now);
    file_.survive([&] { o_.writer->add(tensor<std::string>(values[1]), now); });
  }
  next_ = now + 1;
}

PINION_DECL void summary_saver::end(session&) {
  file_.survive([&] { o_.writer->flush(); });
}

}}}  // namespace pinion::v0::train
