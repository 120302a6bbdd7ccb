// Checkpoints: the variables of a graph in safetensors files, one for each task that holds some.
//
//   DIR/model-20.safetensors                           all variables in one task; or
//   DIR/model-20-00001-of-00002.safetensors, ...       a file for each task, and
//   DIR/model-20.safetensors.index.json                which variable is in which, written last
//   DIR/checkpoint                                     which checkpoints there are
//
// They are written where the session is, which needs no file system shared with the tasks. A partitioned variable, and
// a slot of one, is one tensor under its name, in the file of the task that has its first part: nothing in a checkpoint
// tells into how many parts it was cut, and it is restored to any number of them, or to a variable that is not cut.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <pinion/dsl/variable_slices.hpp>
#include <pinion/files/safetensors.hpp>
#include <pinion/runtime/session.hpp>
#include <pinion/train/checkpoint_state.hpp>

namespace pinion::inline v0::train {

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
  explicit saver(saver_options options = {}) : o_(std::move(options)), graph_(&default_graph()) {}
  saver(const saver&) = delete;
  ~saver() { settle(); }

  // Writes a checkpoint and returns its prefix: "DIR/model-20" of path "DIR/model" at step 20, the value that the
  // variable has then. The folder is made where it is not there. failed_precondition: a variable is not initialised.
  std::string save(session& from, const std::string& path, const variable_handle<std::int64_t>& step) {
    wait();
    return write(read(from, path, &step, std::nullopt));
  }
  std::string save(session& from, const std::string& path, std::int64_t step) {
    wait();
    return write(read(from, path, nullptr, step));
  }
  // Without a step: "DIR/model".
  std::string save(session& from, const std::string& path) {
    wait();
    return write(read(from, path, nullptr, std::nullopt));
  }
  // Takes the variables as they are now and returns; the files are written by a thread, while training goes on. A
  // variable of this process is not copied unless it is written to meanwhile. What fails is thrown by wait(), which the
  // next save begins with.
  std::string save_in_background(session& from, const std::string& path, const variable_handle<std::int64_t>& step) {
    wait();
    auto taken = std::make_shared<snapshot>(read(from, path, &step, std::nullopt));
    const std::string prefix = taken->prefix;
    writer_ = std::thread([this, taken] {
      try {
        write(std::move(*taken));
      } catch (const std::exception& why) {
        failure_ = as_error(why);
      }
    });
    return prefix;
  }
  // Until the files of the last save_in_background are written; throws what went wrong with them.
  void wait() {
    settle();
    if (const auto failed = std::exchange(failure_, std::nullopt)) throw *failed;
  }

  // Gives the variables the values of a checkpoint, initialised or not. All is checked before any is changed:
  // not_found, the file or a variable in it; invalid_argument, a variable of another dtype or shape; data_loss, a file
  // that is damaged.
  void restore(session& to, const std::string& prefix, const restore_options& options = {}) const;

  // The same without files: the variables as they are now, by name, and back.
  std::map<std::string, any_tensor> take(session& from) const {
    const std::vector<saved_variable> known = variables();
    const std::vector<any_tensor> values = fetch(from, known, nullptr);
    std::map<std::string, any_tensor> all;
    for (std::size_t i = 0; i < known.size(); ++i) all.emplace(own_name(known[i]), values[i]);
    return all;
  }
  void give_back(session& to, const std::map<std::string, any_tensor>& values) const {
    std::vector<saved_variable> known;
    std::vector<any_tensor> each;
    for (const saved_variable& v : variables())
      if (const auto at = values.find(own_name(v)); at != values.end()) {
        known.push_back(v);
        each.push_back(at->second);
      }
    assign(to, known, each);
  }

  // The checkpoints that it has made and not removed, oldest first.
  std::vector<std::string> last_checkpoints() const {
    settle();
    std::vector<std::string> all;
    for (const checkpoint_entry& e : kept_) all.push_back(e.prefix);
    return all;
  }
  // Goes on with the checkpoints of a folder, as if it had made them: they are removed in their turn.
  void recover_last_checkpoints(const std::filesystem::path& folder) {
    settle();
    kept_.clear();
    for (checkpoint_entry& e : read_checkpoint_state(folder).all) {
      e.prefix = (folder / e.prefix).string();
      if (detail::checkpoint_exists(e.prefix)) kept_.push_back(e);
    }
  }

 private:
  // A variable, and the tensor of a checkpoint that it is, or is some rows of.
  struct saved_variable {
    std::string name;
    node_id variable;
    const variable_slice* part = nullptr;  // null: all rows
  };
  // A tensor, or rows that follow one another.
  struct saved_tensor {
    shape extent;
    std::vector<any_tensor> pieces;
    std::int64_t rows = 0;  // of the pieces
  };
  struct shard {
    std::string task;
    std::map<std::string, saved_tensor> values;
  };
  struct snapshot {
    std::string prefix;
    std::vector<shard> shards;
    std::map<std::string, std::string> notes;
  };

  std::vector<saved_variable> variables() const;
  saved_variable under_its_name(node_id v) const {
    const variable_slice* const part = slice_of(*graph_, v);
    return {part ? part->whole : (*graph_)[v].name, v, part};
  }
  static std::int64_t first_row(const saved_variable& v) { return v.part ? v.part->first : 0; }
  // Under which take() has it.
  std::string own_name(const saved_variable& v) const { return v.part ? (*graph_)[v.variable].name : v.name; }
  std::vector<any_tensor> fetch(session& from, const std::vector<saved_variable>& all,
                                const variable_handle<std::int64_t>* step) const;
  void add(saved_tensor& to, const saved_variable& v, const any_tensor& value) const;
  snapshot read(session& from, const std::string& path, const variable_handle<std::int64_t>* step,
                std::optional<std::int64_t> number) const;
  std::string write(snapshot taken);
  static void write_shard(const std::string& path, const shard& s, const std::map<std::string, std::string>& notes);
  void assign(session& to, const std::vector<saved_variable>& variables, const std::vector<any_tensor>& values) const;
  void remember(const std::string& prefix);
  static void remove(const std::string& prefix);
  void settle() const {
    if (writer_.joinable()) writer_.join();
  }
  // A variable's name and read, as the checkpoint's reader may give them out.
  any_expr read_of(const saved_variable& v) const {
    return {*graph_, {graph_->id_of((*graph_)[v.variable].name + "/read"), 0}};
  }

  const saver_options o_;
  graph* const graph_;
  std::vector<checkpoint_entry> kept_;
  double preserved_at_ = now();
  mutable std::thread writer_;
  std::optional<error> failure_;  // of the writer, once it is joined

  static double now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
};

namespace detail {

// The rows from one on of a tensor, as many as a shape has. Requires: it has them, and is no text.
inline any_tensor rows_of(const any_tensor& whole, std::int64_t first, const shape& extent) {
  any_tensor rows(whole.dtype(), extent);
  const std::size_t row = extent[0] == 0 ? 0 : rows.bytes() / static_cast<std::size_t>(extent[0]);
  std::memcpy(rows.raw(), whole.byte_data() + static_cast<std::size_t>(first) * row, rows.bytes());
  return rows;
}
inline void make_folder(const std::filesystem::path& folder) {
  std::error_code trouble;
  std::filesystem::create_directories(folder, trouble);
  if (trouble) throw files::io_failure("make folder", folder, trouble.value());
}
// Nothing where it is not there.
inline void remove_file(const std::filesystem::path& file) {
  std::error_code trouble;
  std::filesystem::remove(file, trouble);
  if (trouble) throw files::io_failure("remove", file, trouble.value());
}

// The files of a checkpoint, opened and checked.
class checkpoint_reader {
 public:
  explicit checkpoint_reader(const std::string& prefix) {
    if (prefix.empty()) throw error(errc::not_found, "there is no checkpoint to restore: its path is empty");
    const std::string index = prefix + ".safetensors.index.json", whole = prefix + ".safetensors";
    if (std::filesystem::exists(index))
      shards_.emplace(index);
    else if (std::filesystem::exists(whole))
      whole_.emplace(whole);
    else
      throw error(errc::not_found, "'" + prefix + "' is no checkpoint: there is neither " + whole + " nor " + index);
  }
  const files::stored_tensor* find(const std::string& name) const {
    return shards_ ? shards_->find(name) : whole_->find(name);
  }
  any_tensor read(const std::string& name) const { return shards_ ? shards_->read(name) : whole_->read(name); }

 private:
  std::optional<files::sharded_safetensors_reader> shards_;
  std::optional<files::safetensors_reader> whole_;
};

}  // namespace detail

inline std::vector<saver::saved_variable> saver::variables() const {
  std::vector<saved_variable> all;
  if (o_.variables.empty() && o_.names.empty())
    for (const node_id v : graph_->collection("variables")) all.push_back(under_its_name(v));
  for (const operation& v : o_.variables) all.push_back(under_its_name(v.id()));
  for (const auto& [name, v] : o_.names) all.push_back({name, v.id()});
  if (all.empty()) throw error(errc::failed_precondition, "a saver has no variables to save or restore");
  for (const saved_variable& v : all)
    if ((*graph_)[v.variable].op != "VariableV2")
      throw error(errc::invalid_argument, "a saver was given '" + (*graph_)[v.variable].name + "' (" +
                                              (*graph_)[v.variable].op + "), which is no variable");
  return all;
}

inline std::vector<any_tensor> saver::fetch(session& from, const std::vector<saved_variable>& all,
                                            const variable_handle<std::int64_t>* step) const {
  run_request request;
  for (const saved_variable& v : all) request.fetches.push_back(read_of(v));
  if (step) request.fetches.push_back(dsl::endpoint_of(*step));
  return from.run(request);
}

// Requires: parts come in the order of their rows.
inline void saver::add(saved_tensor& to, const saved_variable& v, const any_tensor& value) const {
  const std::int64_t first = first_row(v);
  if (!to.pieces.empty() && first == 0)
    throw error(errc::invalid_argument, "a saver has two variables of the name '" + v.name + "'");
  if (first != to.rows)
    throw error(errc::invalid_argument, "a saver was given '" + (*graph_)[v.variable].name + "' of '" + v.name +
                                            "', and not the part before it; it saves all parts or none");
  to.extent = v.part ? v.part->extent : value.shape();
  to.rows += v.part ? value.shape()[0] : 0;
  to.pieces.push_back(value);
}

inline saver::snapshot saver::read(session& from, const std::string& path, const variable_handle<std::int64_t>* step,
                                   std::optional<std::int64_t> number) const {
  auto all = variables();
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return first_row(a) < first_row(b); });
  const std::vector<any_tensor> values = fetch(from, all, step);
  if (step) number = *values.back().data<std::int64_t>();
  snapshot taken;
  taken.prefix = path + (number ? "-" + std::to_string(*number) : "");
  if (number) taken.notes.emplace("global_step", std::to_string(*number));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const device_spec& asked = (*graph_)[all[i].variable].requested;
    const std::string task = o_.sharded ? to_string(asked.with_type("").with_index(-1)) : "";
    const auto is_here = [&](const shard& s) {
      return first_row(all[i]) > 0 ? s.values.count(all[i].name) == 1 : s.task == task;
    };
    auto at = std::find_if(taken.shards.begin(), taken.shards.end(), is_here);
    if (at == taken.shards.end()) at = taken.shards.insert(at, {task, {}});
    add(at->values[all[i].name], all[i], values[i]);
  }
  for (const shard& s : taken.shards)
    for (const auto& [name, t] : s.values)
      if (t.rows != 0 && t.rows != t.extent[0])
        throw error(errc::invalid_argument, "a saver was given " + std::to_string(t.rows) + " of the " +
                                                std::to_string(t.extent[0]) + " rows of '" + name +
                                                "'; it saves all parts or none");
  return taken;
}

inline std::string saver::write(snapshot taken) {
  const std::filesystem::path prefix(taken.prefix);
  if (prefix.has_parent_path()) detail::make_folder(prefix.parent_path());
  const std::string index_path = taken.prefix + ".safetensors.index.json", whole_path = taken.prefix + ".safetensors";
  // Shards of a checkpoint that is there already keep their names until the new files are whole.
  std::set<std::string> before;
  if (std::filesystem::exists(index_path))
    for (const auto& [name, file] : files::read_shard_index(index_path).weight_map) before.insert(file);
  if (taken.shards.size() == 1) {
    write_shard(whole_path, taken.shards[0], taken.notes);
    detail::remove_file(index_path);
  } else {
    std::string stem = prefix.filename().string();
    if (!before.empty()) stem += "." + std::to_string(std::random_device{}());
    files::shard_index index;
    for (std::size_t i = 0; i < taken.shards.size(); ++i) {
      const std::string file = files::shard_name(stem, i, taken.shards.size());
      write_shard((prefix.parent_path() / file).string(), taken.shards[i], taken.notes);
      for (const auto& [name, value] : taken.shards[i].values) {
        index.weight_map.emplace(name, file);
        for (const any_tensor& piece : value.pieces) index.total_size += piece.bytes();
      }
    }
    files::write_shard_index(index_path, index);
    detail::remove_file(whole_path);
  }
  for (const std::string& file : before) detail::remove_file(prefix.parent_path() / file);
  remember(taken.prefix);
  return taken.prefix;
}

inline void saver::write_shard(const std::string& path, const shard& s,
                               const std::map<std::string, std::string>& notes) {
  std::vector<files::tensor_outline> outlines;
  for (const auto& [name, t] : s.values) outlines.push_back({name, t.pieces[0].dtype(), t.extent});
  files::safetensors_writer writer(path, std::move(outlines), {.metadata = notes});
  for (const auto& [name, t] : s.values) writer.write_pieces(name, t.pieces);
  writer.commit();
}

// Counts a checkpoint in, and the oldest out.
inline void saver::remember(const std::string& prefix) {
  std::erase_if(kept_, [&](const checkpoint_entry& e) { return e.prefix == prefix; });
  kept_.push_back({prefix, now()});
  const std::filesystem::path folder = std::filesystem::path(prefix).parent_path();
  std::vector<std::string> outlived;
  while (o_.max_to_keep > 0 && kept_.size() > static_cast<std::size_t>(o_.max_to_keep)) {
    const checkpoint_entry oldest = kept_.front();
    kept_.erase(kept_.begin());
    if (oldest.written_at - preserved_at_ >= o_.keep_checkpoint_every_n_hours * 3600)
      preserved_at_ = oldest.written_at;
    else
      outlived.push_back(oldest.prefix);
  }
  checkpoint_state state;
  for (const checkpoint_entry& e : kept_)
    state.all.push_back(
        {std::filesystem::path(e.prefix).lexically_proximate(folder.empty() ? "." : folder).string(), e.written_at});
  write_checkpoint_state(folder.empty() ? "." : folder, state);
  for (const std::string& old : outlived) remove(old);
}

// The index goes first: what is left of a checkpoint that is half removed is no checkpoint.
inline void saver::remove(const std::string& prefix) {
  const std::filesystem::path index = prefix + ".safetensors.index.json";
  if (std::filesystem::exists(index)) {
    const auto files = files::read_shard_index(index).weight_map;
    detail::remove_file(index);
    for (const auto& [name, file] : files) detail::remove_file(index.parent_path() / file);
  }
  detail::remove_file(prefix + ".safetensors");
}

inline void saver::restore(session& to, const std::string& prefix, const restore_options& options) const {
  settle();
  const detail::checkpoint_reader reader(prefix);
  std::vector<saved_variable> found;
  std::string missing;
  for (const saved_variable& v : variables()) {
    const files::stored_tensor* const t = reader.find(v.name);
    if (!t) {
      const std::string quoted = "'" + v.name + "'";  // once, of however many parts
      if (!options.partial && missing.find(quoted) == std::string::npos)
        missing += (missing.empty() ? "" : ", ") + quoted;
      continue;
    }
    output_type wanted = graph_->type_of({v.variable, 0});
    if (v.part) wanted.shape = v.part->extent;
    if (t->type != wanted.dtype || !fits(t->extent, wanted.shape)) {
      const pinion::node& n = (*graph_)[v.variable];
      throw error(errc::invalid_argument, "checkpoint '" + prefix + "' has '" + v.name + "' as " +
                                              std::string(to_string(t->type)) + " " + to_string(t->extent) +
                                              ", and the graph as " + std::string(to_string(wanted.dtype)) + " " +
                                              to_string(wanted.shape))
          .at_node(n.name, n.op, to_string(n.where));
    }
    found.push_back(v);
  }
  if (!missing.empty())
    throw error(errc::not_found, "checkpoint '" + prefix + "' does not have " + missing +
                                     "; {.partial = true} restores the others alone");
  std::vector<any_tensor> values;
  std::string name;  // of the tensor read last, which the parts of one take turns at
  any_tensor whole;
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (const saved_variable& v : found) {
    if (whole.empty() || name != v.name) whole = reader.read(name = v.name);
    values.push_back(v.part ? detail::rows_of(whole, first_row(v), graph_->type_of({v.variable, 0}).shape) : whole);
  }
  assign(to, found, values);
}

inline void saver::assign(session& to, const std::vector<saved_variable>& found,
                          const std::vector<any_tensor>& values) const {
  // A variable's initialiser assigns whatever is fed for its initial value. Two that have one initial value in common
  // take turns.
  std::vector<bool> done(found.size());
  for (std::size_t left = found.size(); left > 0;) {
    run_request turn;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const node_id assign = graph_->id_of((*graph_)[found[i].variable].name + "/Assign");
      const output initial = (*graph_)[assign].inputs[1];
      const bool taken =
          std::any_of(turn.feeds.begin(), turn.feeds.end(), [&](const feed& f) { return f.to.endpoint() == initial; });
      if (done[i] || taken) continue;
      turn.feeds.push_back({any_expr(*graph_, initial), values[i]});
      turn.targets.push_back({*graph_, assign});
      done[i] = true;
      --left;
    }
    to.run(turn);
  }
}

}  // namespace pinion::inline v0::train
