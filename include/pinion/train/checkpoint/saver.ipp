// Bodies of <pinion/train/checkpoint/saver.hpp>.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>

#include <pinion/base/near_name.hpp>
#include <pinion/base/process.hpp>
#include <pinion/base/said_wait.hpp>
#include <pinion/files/folder.hpp>
#include <pinion/op/variable/variable.hpp>
#include <pinion/tensor/convert.hpp>
#include <pinion/train/checkpoint/checkpoint_contents.hpp>
#include <pinion/train/checkpoint/checkpoint_reader.hpp>
#include <pinion/train/checkpoint/saver.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

// Savers of one process change the lists of folders one after another.
struct lists_in_use {
  std::mutex mutex;
};

// Is a checkpoint named "model" or "model-20", for the name "model"? Any is for no name.
inline bool is_named(const std::string& prefix, const std::string& basename) {
  const std::string name = std::filesystem::path(prefix).filename().string();
  if (basename.empty() || name == basename) return true;
  return name.size() > basename.size() + 1 && name.starts_with(basename + "-") &&
         name.find_first_not_of("0123456789", basename.size() + 1) == name.npos;
}

}}}}  // namespace pinion::v0::train::detail

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL std::string saver::save(session& from, const std::string& path, const variable_handle<std::int64_t>& step) {
  wait();
  return write(read(from, path, &step, std::nullopt));
}

PINION_DECL std::string saver::save(session& from, const std::string& path, std::int64_t step) {
  wait();
  return write(read(from, path, nullptr, step));
}

PINION_DECL std::string saver::save(session& from, const std::string& path) {
  wait();
  return write(read(from, path, nullptr, std::nullopt));
}

PINION_DECL std::string saver::save_in_background(session& from, const std::string& path,
                                                  const variable_handle<std::int64_t>& step) {
  wait();
  auto taken = std::make_shared<checkpoint_contents>(read(from, path, &step, std::nullopt));
  const std::string prefix = taken->prefix;
  is_writing_ = true;
  ended_ = std::make_shared<countdown>();
  writing_ = prefix;
  writes_in_ = {};
  writer_ = std::thread([this, taken, ended = ended_] {
    written_ = outcome_of([&] { write(*taken); });
    is_writing_ = false;
    ended->count_down();
  });
  return prefix;
}

PINION_DECL void saver::wait() {
  written().value();
}

PINION_DECL outcome<> saver::written() {
  settle();
  return std::exchange(written_, {});
}

PINION_DECL void saver::settle() const {
  if (!writer_.joinable()) return;
  if (!writes_in_.is_this()) return writer_.detach();  // it is the parent's, and writes there
  pinion::detail::wait_and_say(
      [this](auto at_most) { return ended_->wait(std::chrono::steady_clock::now() + at_most); },
      [this] { return "the checkpoint " + writing_ + " is still being written, and is waited for"; });
  writer_.join();
}

PINION_DECL std::map<std::string, any_tensor> saver::take(session& from) const {
  const std::vector<saved_variable> known = variables();
  const std::vector<any_tensor> values = fetch(from, known, nullptr);
  std::map<std::string, any_tensor> all;
  for (std::size_t i = 0; i < known.size(); ++i) all.emplace(known[i].key(*graph_), values[i]);
  return all;
}

PINION_DECL void saver::give_back(session& to, const std::map<std::string, any_tensor>& values) const {
  std::vector<saved_variable> known;
  std::vector<any_tensor> each;
  for (const saved_variable& v : variables())
    if (const auto at = values.find(v.key(*graph_)); at != values.end()) {
      known.push_back(v);
      each.push_back(at->second);
    }
  assign(to, known, each);
}

PINION_DECL std::vector<std::string> saver::last_checkpoints() const {
  settle();
  std::vector<std::string> all;
  for (const kept_checkpoint& one : kept_) all.push_back(one.prefix);
  return all;
}

PINION_DECL void saver::recover_last_checkpoints(const std::filesystem::path& folder, const std::string& basename) {
  settle();
  const auto there = files::resolved(folder / "model").parent_path();
  std::erase_if(kept_, [&](const kept_checkpoint& one) { return one.place.parent_path() == there; });
  for (const checkpoint_entry& e : read_checkpoint_state(folder).all) {
    const std::string prefix = (folder / e.prefix).string();
    if (!detail::is_named(e.prefix, basename) || !checkpoint_files(prefix).exist()) continue;
    kept_.push_back({prefix, files::resolved(prefix), e.written_at});
  }
}

PINION_DECL saver::saved_variable saver::under_its_name(node_id v) const {
  const variable_slice* const part = slice_of(*graph_, v);
  return {part ? part->whole : (*graph_)[v].name, v, part};
}

PINION_DECL std::string saver::write(const checkpoint_contents& taken) {
  const checkpoint_files its(taken.place.string());
  const bool is_new = !its.exist();
  write_checkpoint(taken);
  try {
    remember(taken);
  } catch (const error&) {  // a new checkpoint that no list names would never be removed
    if (is_new) its.remove();
    throw;
  }
  return taken.prefix;
}

PINION_DECL double saver::now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}}}  // namespace pinion::v0::train

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL any_tensor rows_of(const any_tensor& whole, std::int64_t first, const shape& extent) {
  any_tensor rows(whole.dtype(), extent);
  const std::size_t row = extent[0] == 0 ? 0 : rows.bytes() / static_cast<std::size_t>(extent[0]);
  std::memcpy(rows.raw(), whole.byte_data() + static_cast<std::size_t>(first) * row, rows.bytes());
  return rows;
}

// Throws invalid_argument for a variable of text.
inline void expect_numbers(const node& variable) {
  if (variable.outputs[0].dtype != dtype::string) return;
  throw error(errc::invalid_argument,
              "variable '" + variable.name + "' is of text, and checkpoints hold numbers and booleans only: make it " +
                  "local ({.local = true}), so that each start initialises it, or name the variables to save " +
                  "(saver_options.variables)")
      .at_node(variable.name, variable.op, to_string(variable.where));
}

}}}}  // namespace pinion::v0::train::detail

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL std::vector<saver::saved_variable> saver::variables() const {
  std::vector<saved_variable> all;
  if (o_.variables.empty() && o_.names.empty())
    for (const node_id v : graph_->collection("variables")) all.push_back(under_its_name(v));
  for (const operation& v : o_.variables) all.push_back(under_its_name(v.id(*graph_, "the saver's")));
  for (const auto& [name, saved] : o_.names) {
    if (saved.variables().empty())
      throw error(errc::invalid_argument, "a saver was given a partitioned variable without parts as '" + name +
                                              "': a handle to which none was assigned");
    for (const operation& v : saved.variables()) {
      const node_id id = v.id(*graph_, "the saver's");
      all.push_back({name, id, saved.in_parts() ? slice_of(*graph_, id) : nullptr});
    }
  }
  if (all.empty()) throw error(errc::failed_precondition, "a saver has no variables to save or restore");
  for (const saved_variable& v : all)
    if ((*graph_)[v.variable].op != op::variable::name)
      throw error(errc::invalid_argument, "a saver was given '" + (*graph_)[v.variable].name + "' (" +
                                              (*graph_)[v.variable].op + "), which is no variable");
  return all;
}

PINION_DECL std::vector<any_tensor> saver::fetch(session& from, const std::vector<saved_variable>& all,
                                                 const variable_handle<std::int64_t>* step) const {
  run_request request;
  for (const saved_variable& v : all)
    request.fetches.push_back({*graph_, {variable_of(*graph_, v.variable).read_id(*graph_), 0}});
  if (step) request.fetches.push_back(dsl::endpoint_of(*step));
  return from.run(request);
}

// Adds the value of a variable, or of a part, to its tensor. Requires: the parts of a tensor come in the order of their
// rows.
PINION_DECL void saver::add(saved_tensor& to, const saved_variable& v, const any_tensor& value) const {
  const std::int64_t first = v.first_row();
  if (!to.pieces.empty() && first == 0)
    throw error(errc::invalid_argument, "a saver has two variables of the name '" + v.name + "'");
  if (first != to.rows)
    throw error(errc::invalid_argument, "a saver was given '" + (*graph_)[v.variable].name + "' of '" + v.name +
                                            "', and not the part before it; it saves all parts or none");
  to.extent = v.part ? v.part->extent : value.shape();
  to.rows += v.part ? value.shape()[0] : 0;
  to.pieces.push_back(value);
}

PINION_DECL checkpoint_contents saver::read(session& from, const std::string& path,
                                            const variable_handle<std::int64_t>* step,
                                            std::optional<std::int64_t> number) const {
  auto all = variables();
  for (const saved_variable& v : all) detail::expect_numbers((*graph_)[v.variable]);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first_row() < b.first_row(); });
  const std::vector<any_tensor> values = fetch(from, all, step);
  if (step) number = *values.back().data<std::int64_t>();
  if (!std::filesystem::path(path).has_filename())
    throw error(errc::invalid_argument, "a saver was given the path '" + path +
                                            "' of a folder; that of a checkpoint ends with a name, as DIR/model does");
  checkpoint_contents taken;
  taken.prefix = path + (number ? "-" + std::to_string(*number) : "");
  taken.place = files::resolved(taken.prefix);
  if (number) taken.notes.emplace("global_step", std::to_string(*number));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const device_spec& asked = (*graph_)[all[i].variable].requested;
    const std::string task = o_.sharded ? to_string(asked.with_type("").with_index(-1)) : "";
    const auto is_here = [&](const checkpoint_contents::shard& s) {
      return all[i].first_row() > 0 ? s.values.count(all[i].name) == 1 : s.task == task;
    };
    auto at = std::find_if(taken.shards.begin(), taken.shards.end(), is_here);
    if (at == taken.shards.end()) at = taken.shards.insert(at, {task, {}});
    add(at->values[all[i].name], all[i], values[i]);
  }
  for (const checkpoint_contents::shard& s : taken.shards)
    for (const auto& [name, t] : s.values)
      if (t.rows != 0 && t.rows != t.extent[0])
        throw error(errc::invalid_argument, "a saver was given " + std::to_string(t.rows) + " of the " +
                                                std::to_string(t.extent[0]) + " rows of '" + name +
                                                "'; it saves all parts or none");
  return taken;
}

// Adds a checkpoint to the list of its folder and removes the oldest ones that this saver has made there. What others
// have made stays in the list. No file is removed unless the new list was written.
PINION_DECL void saver::remember(const checkpoint_contents& written) {
  const std::lock_guard one_at_a_time(of_this_process<detail::lists_in_use>().mutex);
  const auto folder = written.place.parent_path();
  const auto is_here = [&](const kept_checkpoint& one) { return one.place.parent_path() == folder; };
  std::vector<kept_checkpoint> kept = kept_;
  double preserved_at = preserved_at_;
  std::erase_if(kept, [&](const kept_checkpoint& one) { return one.place == written.place; });
  kept.push_back({written.prefix, written.place, now()});
  std::vector<std::filesystem::path> outlived;
  while (o_.max_to_keep > 0 && std::count_if(kept.begin(), kept.end(), is_here) > o_.max_to_keep) {
    const auto first = std::find_if(kept.begin(), kept.end(), is_here);
    const kept_checkpoint oldest = *first;
    kept.erase(first);
    if (oldest.written_at - preserved_at >= o_.keep_checkpoint_every_n_hours * 3600)
      preserved_at = oldest.written_at;
    else
      outlived.push_back(oldest.place);
  }
  checkpoint_state state = made_by_others(folder, written.place);
  for (const kept_checkpoint& one : kept)
    if (is_here(one)) state.all.push_back({one.place.filename().string(), one.written_at});
  std::stable_sort(state.all.begin(), state.all.end() - 1,
                   [](const auto& a, const auto& b) { return a.written_at < b.written_at; });
  write_checkpoint_state(folder, state);
  kept_ = std::move(kept);
  preserved_at_ = preserved_at;
  for (const auto& old : outlived) checkpoint_files(old.string()).remove();
}

// The entries of a folder's list whose files exist, without this saver's own.
PINION_DECL checkpoint_state saver::made_by_others(const std::filesystem::path& folder,
                                                   const std::filesystem::path& written) const {
  checkpoint_state others = read_checkpoint_state(folder);
  std::erase_if(others.all, [&](const checkpoint_entry& e) {
    const auto place = files::resolved(folder / e.prefix);
    const auto is_it = [&](const kept_checkpoint& one) {
      return one.place == place && place.parent_path() == folder;  // of another folder remember() adds none
    };
    return place == written || std::any_of(kept_.begin(), kept_.end(), is_it) ||
           !checkpoint_files(place.string()).exist();
  });
  return others;
}

PINION_DECL std::string saver::missing_in(const std::string& prefix) const {
  settle();
  return found_in(checkpoint_reader(prefix), prefix, false).missing;
}

PINION_DECL std::string saver::name_of(const operation& variable) const {
  const node_id id = variable.id(*graph_, "the saver's");
  for (const saved_variable& v : variables())
    if (v.variable == id) return v.name;
  return "";
}

PINION_DECL void saver::restore(session& to, const std::string& prefix, const restore_options& options) const {
  settle();
  const checkpoint_reader reader(prefix);
  auto [found, missing] = found_in(reader, prefix, options.convert);
  if (!missing.empty() && !options.partial)
    throw error(errc::not_found, "checkpoint '" + prefix + "' does not have " + missing +
                                     "; {.partial = true} restores the others alone");
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::vector<any_tensor> values;
  std::string name;  // the tensor that was read last; its parts follow one another
  any_tensor whole;
  for (const saved_variable& v : found) {
    if (whole.empty() || name != v.name) whole = reader.read(name = v.name);
    const output_type type = graph_->type_of({v.variable, 0});
    values.push_back(converted(v.part ? detail::rows_of(whole, v.first_row(), type.shape) : whole, type.dtype));
  }
  assign(to, found, values);
}

inline saver::search saver::found_in(const checkpoint_reader& reader, const std::string& prefix, bool convert) const {
  std::vector<saved_variable> found;
  std::string missing;
  for (const saved_variable& v : variables()) {
    if (is_in(reader, prefix, v, convert)) {
      found.push_back(v);
      continue;
    }
    const std::string quoted = "'" + v.name + "'";  // a partitioned variable is named once
    if (missing.find(quoted) != std::string::npos) continue;
    const std::string near = nearest_name(v.name, reader.names());
    missing += (missing.empty() ? "" : ", ") + quoted + (near.empty() ? "" : " (it has '" + near + "')");
  }
  return {std::move(found), std::move(missing)};
}

inline bool saver::is_in(const checkpoint_reader& reader, const std::string& prefix, const saved_variable& v,
                         bool convert) const {
  const files::stored_tensor* const t = reader.find(v.name);
  if (!t) return false;
  output_type wanted = graph_->type_of({v.variable, 0});
  if (v.part) wanted.shape = v.part->extent;
  const bool is_taken = t->type == wanted.dtype || (convert && dtypes::moved.has(t->type));
  if (is_taken && fits(t->extent, wanted.shape)) return true;
  const pinion::node& n = (*graph_)[v.variable];
  throw error(errc::invalid_argument,
              "checkpoint '" + prefix + "' has '" + v.name + "' as " + std::string(to_string(t->type)) + " " +
                  to_string(t->extent) + ", and the graph as " + std::string(to_string(wanted.dtype)) + " " +
                  to_string(wanted.shape) + (convert || t->type == wanted.dtype ? "" : "; {.convert = true} converts"))
      .at_node(n.name, n.op, to_string(n.where));
}

PINION_DECL void saver::assign(session& to, const std::vector<saved_variable>& found,
                               const std::vector<any_tensor>& values) const {
  // The initialiser of a variable assigns any value that is fed for its initial value. Variables that share one initial
  // value cannot be fed in one step, so they are assigned one after the other.
  std::vector<bool> done(found.size());
  for (std::size_t left = found.size(); left > 0;) {
    run_request request;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const node_id assign = variable_of(*graph_, found[i].variable).initializer().id(*graph_);
      const output initial = (*graph_)[assign].inputs[1];
      const bool taken = std::any_of(request.feeds.begin(), request.feeds.end(),
                                     [&](const feed& f) { return f.to.endpoint(*graph_) == initial; });
      if (done[i] || taken) continue;
      request.feeds.push_back({any_expr(*graph_, initial), values[i]});
      request.targets.push_back({*graph_, assign});
      done[i] = true;
      --left;
    }
    to.run(request);
  }
}

}}}  // namespace pinion::v0::train
