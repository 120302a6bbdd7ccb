// Bodies of <pinion/train/summary/summary_writer.hpp>.
#pragma once

#include <pinion/base/utf8.hpp>
#include <pinion/op/summary/message.hpp>
#include <pinion/train/summary/summary_writer.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL void summary_writer::add_graph(graph_view g, const std::vector<device_info>& devices) {
  file_.add(event_kind::graph, graph_message(g, devices));
}

PINION_DECL void summary_writer::add_session_log(session_mark mark, std::int64_t step,
                                                 std::string_view checkpoint_path) {
  file_.add(event_kind::session_log, session_log_message(mark, checkpoint_path), step);
}

namespace detail {
inline void check_text(std::string_view text, const char* what) {
  if (!text.empty() && is_utf8(text)) return;
  throw error(errc::invalid_argument, std::string(what) + (text.empty() ? " is empty" : " is not UTF-8"));
}
}  // namespace detail

PINION_DECL void summary_writer::add(const tensor<std::string>& serialized, std::int64_t step) {
  const std::vector<std::string_view> parts(serialized.span().begin(), serialized.span().end());
  file_.add(event_kind::summary, op::merged_message(parts), step);
}

PINION_DECL void summary_writer::add(const std::string& serialized, std::int64_t step) {
  const std::string_view one = serialized;
  file_.add(event_kind::summary, op::merged_message({&one, 1}), step);
}

PINION_DECL void summary_writer::add_scalar(std::string_view tag, float value, std::int64_t step) {
  detail::check_text(tag, "the tag of a summary");
  file_.add(event_kind::summary, op::scalar_message(tag, value), step);
}

PINION_DECL void summary_writer::add_text(std::string_view tag, const std::string& markdown, std::int64_t step) {
  detail::check_text(tag, "the tag of a summary");
  file_.add(event_kind::summary, op::text_message(tag, tensor<std::string>(markdown).untyped()), step);
}

PINION_DECL void summary_writer::add_hparams(const std::vector<hyperparameter>& all) {
  for (const hyperparameter& h : all) {
    detail::check_text(h.name, "the name of a hyperparameter");
    if (!is_utf8(h.text)) detail::check_text(h.text, "the value of a hyperparameter");
  }
  file_.add(event_kind::summary,
            op::plugin_message("_hparams_/session_start_info", "hparams", hyperparameters_message(all, file_.now())));
}

}}}  // namespace pinion::v0::train
