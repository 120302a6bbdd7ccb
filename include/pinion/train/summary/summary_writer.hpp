// Writes what TensorBoard shows of a run into an event file of a directory.
//
//   tr::summary_writer writer{"logs/worker0"};
//   writer.add(sess.run(merged), step);
//   writer.add_graph(g, sess.plan(train));
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/tensor/tensor.hpp>
#include <pinion/train/summary/event_file_writer.hpp>
#include <pinion/train/summary/graph_message.hpp>

namespace pinion::inline v0::train {

// A directory is a run: two processes that write the same tags need one each. Owns its file. Thread-safe. Errors of the
// file are those of event_file_writer; a build without protozero throws unimplemented when one is made. The destructor
// writes what waits and throws nothing: who wants to know calls close().
class summary_writer {
 public:
  using options = event_file_options;

  explicit summary_writer(const std::filesystem::path& dir, const options& o = {}) : file_(dir, o) {}

  // What a summary node yielded: one Summary message, or several, which count as one. In the steps of one tag later
  // values have the greater steps. Throws invalid_argument where a string is no summary.
  PINION_DECL void add(const tensor<std::string>& serialized, std::int64_t step);
  PINION_DECL void add(const std::string& serialized, std::int64_t step);

  // Without a graph.
  PINION_DECL void add_scalar(std::string_view tag, float value, std::int64_t step);
  PINION_DECL void add_text(std::string_view tag, const std::string& markdown, std::int64_t step);
  // The hyperparameters of this run, for a table over the runs beside it.
  PINION_DECL void add_hparams(const std::vector<hyperparameter>& all);

  // The graph, each node coloured by the device that was asked for, or by the one that a plan puts it on, by its full
  // name, so that TensorBoard lists a device once; a request that several devices may meet is named by the first of a
  // session's list_devices(). A run shows the graph that was added last.
  void add_graph(const graph& g) { file_.add(event_kind::graph, graph_message_of_requests(g)); }
  void add_graph(const graph& g, const std::vector<device_info>& devices) {
    file_.add(event_kind::graph, graph_message(g, devices));
  }
  void add_graph(const graph& g, const plan& p) { file_.add(event_kind::graph, graph_message(g, p)); }

  void add_session_log(session_mark mark, std::int64_t step, std::string_view checkpoint_path = {}) {
    file_.add(event_kind::session_log, session_log_message(mark, checkpoint_path), step);
  }

  const std::filesystem::path& path() const { return file_.path(); }
  void flush() { file_.flush(); }
  // Flushes; later calls of add throw failed_precondition, and closing twice is harmless.
  void close() { file_.close(); }

 private:
  event_file_writer file_;
};

}  // namespace pinion::inline v0::train

#if PINION_DEFINE_RUNTIME
#include <pinion/base/utf8.hpp>
#include <pinion/op/summary/message.hpp>

namespace pinion::inline v0::train {

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

}  // namespace pinion::inline v0::train
#endif
