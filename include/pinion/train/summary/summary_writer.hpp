// Writes what TensorBoard shows of a run into an event file of a directory.
//
//   tr::summary_writer writer{"logs/worker0"};
//   writer.add(sess.run(merged), step);
//   writer.add_graph(g, sess.plan(train));
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/tensor/tensor.hpp>
#include <pinion/train/summary/event_file_writer.hpp>
#include <pinion/train/summary/graph_message.hpp>

namespace pinion { inline namespace v0 { namespace train {

// A directory is a run: two processes that write the same tags need one each. Owns its file. Thread-safe. Errors of the
// file are those of event_file_writer; a build without protozero throws unimplemented when one is made. The destructor
// writes what waits and throws nothing: who wants to know calls close().
class summary_writer {
 public:
  using options = event_file_options;

  explicit summary_writer(const std::filesystem::path& dir, const options& o = {}) : file_(dir, o) {}

  // What a summary node yielded: one Summary message, or several, which count as one. In the steps of one tag later
  // values have the greater steps. Throws invalid_argument where a string is no summary.
  void add(const tensor<std::string>& serialized, std::int64_t step);
  void add(const std::string& serialized, std::int64_t step);

  // Without a graph.
  void add_scalar(std::string_view tag, float value, std::int64_t step);
  void add_text(std::string_view tag, const std::string& markdown, std::int64_t step);
  // The hyperparameters of this run, for a table over the runs beside it.
  void add_hparams(const std::vector<hyperparameter>& all);

  // The graph, each node coloured by the device that was asked for, or by the one that a plan puts it on, by its full
  // name, so that TensorBoard lists a device once; a request that several devices may meet is named by the first of a
  // session's list_devices(). A run shows the graph that was added last.
  void add_graph(const graph& g) { file_.add(event_kind::graph, graph_message_of_requests(g)); }
  void add_graph(const graph& g, const std::vector<device_info>& devices);
  void add_graph(const graph& g, const plan& p) { file_.add(event_kind::graph, graph_message(g, p)); }

  void add_session_log(session_mark mark, std::int64_t step, std::string_view checkpoint_path = {});

  const std::filesystem::path& path() const { return file_.path(); }
  void flush() { file_.flush(); }
  // Flushes; later calls of add throw failed_precondition, and closing twice is harmless.
  void close() { file_.close(); }

 private:
  event_file_writer file_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/summary/summary_writer.ipp>
#endif
