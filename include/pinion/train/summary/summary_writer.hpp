// Writes the data that TensorBoard shows of a run into an event file of a directory.
//
//   tr::summary_writer writer{"logs/worker0"};
//   writer.add(sess.run(merged), step);
//   writer.add_graph(g, sess.plan(train));
//   writer.add_hparams({{"learning_rate", .01}, {"optimizer", "momentum"}});
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

// Writes summaries, graphs and hyperparameters of one run. A directory is a run: two processes that write the same tags
// need a directory each. It owns its file. Thread-safe. Errors of the file are those of event_file_writer; in a build
// without protozero the constructor throws unimplemented. The destructor writes the events that wait and throws
// nothing, so a program that wants to know of an error calls close().
class summary_writer {
 public:
  using options = event_file_options;

  // Makes the directory, if it does not exist, and an event file in it.
  explicit summary_writer(const std::filesystem::path& dir, const options& o = {}) : file_(dir, o) {}

  // Adds the value of a summary node: one Summary message, or a tensor of several, which are merged. Values of one tag
  // are added with rising steps. Throws invalid_argument if a string is no summary.
  void add(const tensor<std::string>& serialized, std::int64_t step);
  void add(const std::string& serialized, std::int64_t step);

  // Adds a point of a curve, without a node. Throws invalid_argument if the tag is empty or not UTF-8.
  void add_scalar(std::string_view tag, float value, std::int64_t step);
  // Adds a text in Markdown, without a node. Throws invalid_argument if the tag is empty or not UTF-8.
  void add_text(std::string_view tag, const std::string& markdown, std::int64_t step);
  // Adds the hyperparameters of this run, for a table of them beside those of other runs. Throws invalid_argument if
  // a name is empty, or a name or text is not UTF-8.
  void add_hparams(const std::vector<hyperparameter>& all);

  // Adds the graph; a run shows the graph that was added last. TensorBoard colours each node by its device: the one
  // that was asked for, or the one that a plan puts it on. Devices have their full names, so that each is listed once.
  // A request that several devices meet gets the name of the first of `devices`, a session's list_devices().
  void add_graph(graph_view g) { file_.add(event_kind::graph, graph_message_of_requests(g)); }
  void add_graph(graph_view g, const std::vector<device_info>& devices);
  void add_graph(graph_view g, const plan& p) { file_.add(event_kind::graph, graph_message(g, p)); }

  // Adds a mark in the life of a session.
  void add_session_log(session_mark mark, std::int64_t step, std::string_view checkpoint_path = {});

  // The path of the event file.
  const std::filesystem::path& path() const { return file_.path(); }
  // Writes the events that wait.
  void flush() { file_.flush(); }
  // Writes the events that wait and closes the file. After that, add functions throw failed_precondition; a second
  // close() does nothing.
  void close() { file_.close(); }

 private:
  event_file_writer file_;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/summary/summary_writer.ipp>
#endif
