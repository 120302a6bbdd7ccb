// Checkpoints: the variables of a graph in safetensors files, one for each task that holds some (checkpoint_files.hpp),
// and beside them which checkpoints there are (checkpoint_state.hpp).
//
// They are written where the session is, which needs no file system shared with the tasks. A partitioned variable, and
// a slot of one, is one tensor under its name, in the file of the task that has its first part: nothing in a checkpoint
// tells into how many parts it was cut, and it is restored to any number of them, or to a variable that is not cut.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/dsl/variable_slices.hpp>
#include <pinion/runtime/session.hpp>
#include <pinion/train/checkpoint/checkpoint_state.hpp>

namespace pinion::inline v0::train {

struct checkpoint_contents;
struct saved_tensor;

struct saver_options {
  std::vector<operation> variables = {};         // empty: all global ones of the default graph, when it saves. Of a
                                                 // partitioned variable its parts: all of them, to save it
  std::map<std::string, operation> names = {};   // variables under other names than their own, beside those
  int max_to_keep = 5;                           // older checkpoints of this saver are removed; 0: none is
  double keep_checkpoint_every_n_hours = 10000;  // but one every so many hours is kept for good
  bool sharded = true;                           // a file for each task that holds variables
};

struct restore_options {
  bool partial = false;  // variables that the checkpoint does not have stay as they are, instead of being an error
};

// Saves and restores the variables of a graph, by the names of their nodes: where they are placed, and on how many
// tasks, may differ. Refers to the graph, which was the default one when it was made. Saving removes the oldest
// checkpoints that it has made. For one thread at a time, but what save_in_background writes is written meanwhile; its
// destructor waits for that, and so does what asks about checkpoints. What is torn, foreign or does not fit is an error
// that names file and variable, and changes nothing.
class saver {
 public:
  explicit saver(saver_options options = {}) : o_(std::move(options)), graph_(default_graph()) {}
  saver(const saver&) = delete;
  ~saver() { settle(); }

  // Writes a checkpoint and returns its prefix: "DIR/model-20" of path "DIR/model" at step 20, the value that the
  // variable has then. The folder is made where it is not there. failed_precondition: a variable is not initialised.
  std::string save(session& from, const std::string& path, const variable_handle<std::int64_t>& step);
  std::string save(session& from, const std::string& path, std::int64_t step);
  // Without a step: "DIR/model".
  std::string save(session& from, const std::string& path);
  // Takes the variables as they are now and returns; the files are written by a thread, while training goes on. A
  // variable of this process is not copied unless it is written to meanwhile. What fails is thrown by wait(), which the
  // next save begins with.
  std::string save_in_background(session& from, const std::string& path, const variable_handle<std::int64_t>& step);
  // Until the files of the last save_in_background are written; throws what went wrong with them.
  void wait();
  // Waits as wait() does, but returns what went wrong. Either tells it once.
  std::optional<error> outcome();
  // Waits, and leaves what went wrong to be told by one of these.
  void settle() const;
  // Are files of the last save_in_background still to be written?
  bool is_writing() const { return is_writing_; }

  // Gives the variables the values of a checkpoint, initialised or not. All is checked before any is changed:
  // not_found, the file or a variable in it; invalid_argument, a variable of another dtype or shape; data_loss, a file
  // that is damaged.
  void restore(session& to, const std::string& prefix, const restore_options& options = {}) const;

  // The same without files: the variables as they are now, by name, and back.
  std::map<std::string, any_tensor> take(session& from) const;
  void give_back(session& to, const std::map<std::string, any_tensor>& values) const;

  // The checkpoints that it has made and not removed, oldest first.
  std::vector<std::string> last_checkpoints() const;
  // Goes on with the checkpoints of a folder, as if it had made them: they are removed in their turn.
  void recover_last_checkpoints(const std::filesystem::path& folder);

 private:
  // A variable, and the tensor of a checkpoint that it is, or is some rows of.
  struct saved_variable {
    std::string name;
    node_id variable;
    const variable_slice* part = nullptr;  // null: all rows
  };

  std::vector<saved_variable> variables() const;
  saved_variable under_its_name(node_id v) const;
  static std::int64_t first_row(const saved_variable& v) { return v.part ? v.part->first : 0; }
  // Under which take() has it.
  std::string own_name(const saved_variable& v) const { return v.part ? (*graph_)[v.variable].name : v.name; }
  std::vector<any_tensor> fetch(session& from, const std::vector<saved_variable>& all,
                                const variable_handle<std::int64_t>* step) const;
  void add(saved_tensor& to, const saved_variable& v, const any_tensor& value) const;
  checkpoint_contents read(session& from, const std::string& path, const variable_handle<std::int64_t>* step,
                           std::optional<std::int64_t> number) const;
  std::string write(const checkpoint_contents& taken);
  void assign(session& to, const std::vector<saved_variable>& found, const std::vector<any_tensor>& values) const;
  void remember(const std::string& prefix);
  static std::filesystem::path folder_of(const std::string& prefix);
  static bool is_listed(const std::string& prefix);
  // A variable's name and read, as the checkpoint's reader may give them out.
  any_expr read_of(const saved_variable& v) const;

  const saver_options o_;
  const graph_ref graph_;
  std::vector<checkpoint_entry> kept_;
  double preserved_at_ = now();
  mutable std::thread writer_;
  std::atomic<bool> is_writing_ = false;
  std::optional<error> failure_;  // of the writer, once it is joined

  static double now();
};

namespace detail {

// The rows from one on of a tensor, as many as a shape has. Requires: it has them, and is no text.
any_tensor rows_of(const any_tensor& whole, std::int64_t first, const shape& extent);

}  // namespace detail

}  // namespace pinion::inline v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/checkpoint/saver.ipp>
#endif
