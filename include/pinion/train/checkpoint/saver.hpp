// A saver writes the variables of a graph to checkpoints and restores them. A checkpoint is one safetensors file for
// each task that holds variables (checkpoint_files.hpp); a small text file beside them lists the checkpoints of the
// folder (checkpoint_state.hpp).
//
//   tr::saver saver;
//   saver.save(sess, "DIR/model", step);                            // DIR/model-20.safetensors
//   saver.restore(sess, tr::latest_checkpoint("DIR"));
//
// The client that has the session writes the files, so the tasks need no shared file system. A partitioned variable, or
// a slot of one, is saved as one tensor under its own name, in the file of the task that has its first part. A
// checkpoint does not tell into how many parts a variable was cut: it can be restored to any number of parts, or to a
// variable that is not cut.
//
// A folder after two saves with two ps tasks:
//
//   checkpoint                              the list: model-10, model-20
//   model-10-00001-of-00002.safetensors     the variables of the first task
//   model-10-00002-of-00002.safetensors     those of the second
//   model-10.safetensors.index.json         which file holds which variable
//   model-20-...
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/base/process.hpp>
#include <pinion/nn/partitioned_variable.hpp>
#include <pinion/op/variable/slices.hpp>
#include <pinion/runtime/session.hpp>
#include <pinion/train/checkpoint/checkpoint_state.hpp>

namespace pinion { inline namespace v0 { namespace train {

class checkpoint_reader;
struct checkpoint_contents;
struct saved_tensor;

// What is saved under a name of the program's choice: a variable, or a partitioned one with all its parts, which are
// one tensor there. Both convert to it. A part alone is a variable, and its rows a tensor. A value.
//
//   tr::saver{{.names = {{"old/table", table}, {"old/bias", b}}}}.restore(sess, "old/model-20");
class saved_as {
 public:
  template <class V>
  requires std::is_convertible_v<const V&, operation> saved_as(const V& variable) : variables_{variable} {}
  template <class T>
  saved_as(const partitioned_variable<T>& all) : variables_(all.parts().begin(), all.parts().end()), in_parts_(true) {}

  // A partitioned variable that is given by its parts, all of them.
  static saved_as of_parts(std::vector<operation> parts) {
    saved_as all(parts.front());
    all.variables_ = std::move(parts);
    all.in_parts_ = true;
    return all;
  }

  const std::vector<operation>& variables() const { return variables_; }
  bool in_parts() const { return in_parts_; }

 private:
  std::vector<operation> variables_;
  bool in_parts_ = false;
};

// The options of a saver.
struct saver_options {
  // The variables to save. If there are none here and none in `names`, the saver takes all global variables that the
  // default graph of its construction has when it saves. A partitioned variable is given by its parts, all of them.
  std::vector<operation> variables = {};
  // Variables to save under other names than their own, besides those above.
  std::map<std::string, saved_as> names = {};
  // The saver keeps this many checkpoints and removes older ones; 0: it removes none.
  int max_to_keep = 5;
  // One checkpoint is kept for good each time this many hours have passed.
  double keep_checkpoint_every_n_hours = 10000;
  // true: one file for each task that holds variables; false: one file for all.
  bool sharded = true;
};

// The options of saver::restore.
struct restore_options {
  // true: variables that the checkpoint does not have keep their values; false: they are an error.
  bool partial = false;
  // true: a tensor of another dtype than its variable is converted to it (pn::converted), so that weights of half begin
  // a model of float; false: it is an error.
  bool convert = false;
};

// Saves and restores the variables of a graph, by the names of their nodes. They may be placed elsewhere, or on another
// number of tasks, when they are restored. It refers to the graph that was the default one at its construction, and
// owns the thread that writes in the background. In each folder it removes the oldest checkpoints that it has made
// there, and no others: several savers of one process may share a folder, and its list names what all of them have
// made.
//
// One thread at a time may use a saver; is_writing() may be asked from any. Files of save_in_background are written
// meanwhile by the saver's own thread: the destructor waits for it, and so does every function that asks about
// checkpoints. A checkpoint that is damaged, incomplete or does not fit the graph is an error that names the file and
// the variable, and changes no variable.
//
// A relative path is one of the directory in which the process is when it is given. What was made before a restart is
// removed like its own where the saver takes it over (recover_last_checkpoints).
//
//   tr::saver best{{.variables = {W, b}, .max_to_keep = 1}};
//   best.recover_last_checkpoints("best");
//   best.save(sess, "best/model", step);
//   best.restore(sess, "best/model-20", {.partial = true});
class saver {
 public:
  // Refers to the thread's default graph. A bad list of variables is reported by the first save or restore:
  // invalid_argument for a node that is not a variable, failed_precondition if there are none. So is a variable of text
  // by the first save (invalid_argument): checkpoints hold numbers and booleans.
  explicit saver(saver_options options = {}) : o_(std::move(options)), graph_(default_graph()) {}
  saver(const saver&) = delete;
  ~saver() { settle(); }

  // Writes a checkpoint and returns its prefix: "DIR/model-20" for the path "DIR/model" at step 20. The step is the
  // value of the variable, read together with the others. Makes the folder if it does not exist. Throws
  // failed_precondition if a variable is not initialised or there are none to save, and the errors of
  // files::output_file.
  std::string save(session& from, const std::string& path, const variable_handle<std::int64_t>& step);
  std::string save(session& from, const std::string& path, std::int64_t step);
  // Writes a checkpoint without a step, with the prefix "DIR/model".
  std::string save(session& from, const std::string& path);
  // Fetches the variables as they are now and returns; a thread writes the files while training goes on. A variable of
  // this process is copied only if it is written to meanwhile. An error of the writing is thrown by wait(), which the
  // next save calls first.
  std::string save_in_background(session& from, const std::string& path, const variable_handle<std::int64_t>& step);
  // Waits until the files of the last save_in_background are written, and throws the error of the writing, if there was
  // one.
  void wait();
  // Waits like wait(), but returns the outcome of the writing for a caller that goes on after an error. Each error is
  // told once, by one of the two.
  outcome<> written();
  // Waits until the files are written, and keeps an error for wait() or written(). A wait that takes long, like those
  // of the two, says so in the log every ten seconds, and names the checkpoint: the disk may hang.
  void settle() const;
  // True while files of the last save_in_background are being written.
  bool is_writing() const { return is_writing_; }

  // Gives the variables the values of a checkpoint, whether they were initialised or not. Everything is checked before
  // a variable is changed: not_found, the file does not exist or lacks a variable; invalid_argument, a variable has
  // another dtype or shape in it, and the options convert none; data_loss, a file is damaged.
  void restore(session& to, const std::string& prefix, const restore_options& options = {}) const;

  // Fetches the values of the variables by name, without files.
  std::map<std::string, any_tensor> take(session& from) const;
  // Assigns values that take() has returned; variables that the map lacks stay as they are.
  void give_back(session& to, const std::map<std::string, any_tensor>& values) const;

  // The prefixes of the checkpoints that this saver has made, or recovered, and not removed; the oldest first.
  std::vector<std::string> last_checkpoints() const;
  // Takes over the checkpoints that the list of a folder names, as if this saver had made them, so that they are
  // removed like its own. With a file name such as "model" it takes model and model-20 alone, and leaves others to
  // those who have made them.
  void recover_last_checkpoints(const std::filesystem::path& folder, const std::string& basename = {});
  // The variables that a checkpoint does not have, as a sentence's list of names; "" where it has all. Throws
  // not_found, the file does not exist; invalid_argument, a variable has another dtype or shape in it; data_loss.
  std::string missing_in(const std::string& prefix) const;
  // The name that a variable has in a checkpoint; "" for one that this saver does not save.
  std::string name_of(const operation& variable) const;

 private:
  // A variable with the name of its tensor in a checkpoint; a part of a partitioned variable is some rows of that
  // tensor.
  struct saved_variable {
    std::string name;
    node_id variable;
    const variable_slice* part = nullptr;  // null: the variable is not a part, and has all rows

    std::int64_t first_row() const { return part ? part->first : 0; }
    // The variable's key in the map that take() returns.
    std::string key(graph_view g) const { return part ? g[variable].name : name; }
  };

  std::vector<saved_variable> variables() const;
  saved_variable under_its_name(node_id v) const;
  std::vector<any_tensor> fetch(session& from, const std::vector<saved_variable>& all,
                                const variable_handle<std::int64_t>* step) const;
  void add(saved_tensor& to, const saved_variable& v, const any_tensor& value) const;
  checkpoint_contents read(session& from, const std::string& path, const variable_handle<std::int64_t>* step,
                           std::optional<std::int64_t> number) const;
  std::string write(const checkpoint_contents& taken);
  // The variables that a checkpoint has, and the names of those that it has not. Throws what restore() throws.
  struct search {
    std::vector<saved_variable> found;
    std::string missing;
  };
  search found_in(const checkpoint_reader& reader, const std::string& prefix, bool convert) const;
  // True if a checkpoint has the variable. Throws if it has it with another shape, or a dtype that is not converted.
  bool is_in(const checkpoint_reader& reader, const std::string& prefix, const saved_variable& v, bool convert) const;
  void assign(session& to, const std::vector<saved_variable>& found, const std::vector<any_tensor>& values) const;
  void remember(const checkpoint_contents& written);
  checkpoint_state made_by_others(const std::filesystem::path& folder, const std::filesystem::path& written) const;

  const saver_options o_;
  const graph_ref graph_;
  struct kept_checkpoint {
    std::string prefix;           // as it was given
    std::filesystem::path place;  // resolved
    double written_at = 0;        // as in checkpoint_entry
  };
  std::vector<kept_checkpoint> kept_;
  double preserved_at_ = now();
  mutable std::thread writer_;
  process_mark writes_in_;            // the process that started it
  std::shared_ptr<countdown> ended_;  // its work
  std::string writing_;               // the prefix
  std::atomic<bool> is_writing_ = false;
  outcome<> written_;  // by the writer's thread, which is joined before this is read

  static double now();
};

namespace detail {

// Copies rows of a tensor, from row `first` on, into a tensor of shape `extent`. Requires: the rows exist, and the
// dtype is not string.
any_tensor rows_of(const any_tensor& whole, std::int64_t first, const shape& extent);

}  // namespace detail

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/checkpoint/saver.ipp>
#endif
