// Bodies of <pinion/train/checkpoint/saver.hpp>.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include <pinion/base/near_name.hpp>
#include <pinion/base/said_wait.hpp>
#include <pinion/op/variable/variable.hpp>
#include <pinion/train/checkpoint/checkpoint_contents.hpp>
#include <pinion/train/checkpoint/checkpoint_reader.hpp>
#include <pinion/train/checkpoint/saver.hpp>

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
  pinion::detail::wait_and_say(
      [this](auto at_most) { return ended_->wait(std::chrono::steady_clock::now() + at_most); },
      [this] { return "the checkpoint " + writing_ + " is still being written, and is waited for"; });
  writer_.join();
}

PINION_DECL std::map<std::string, any_tensor> saver::take(session& from) const {
  const std::vector<saved_variable> known = variables();
  const std::vector<any_tensor> values = fetch(from, known, nullptr);
  std::map<std::string, any_tensor> all;
  for (std::size_t i = 0; i < known.size(); ++i) all.emplace(own_name(known[i]), values[i]);
  return all;
}

PINION_DECL void saver::give_back(session& to, const std::map<std::string, any_tensor>& values) const {
  std::vector<saved_variable> known;
  std::vector<any_tensor> each;
  for (const saved_variable& v : variables())
    if (const auto at = values.find(own_name(v)); at != values.end()) {
      known.push_back(v);
      each.push_back(at->second);
    }
  assign(to, known, each);
}

PINION_DECL std::vector<std::string> saver::last_checkpoints() const {
  settle();
  std::vector<std::string> all;
  for (const checkpoint_entry& e : kept_) all.push_back(e.prefix);
  return all;
}

PINION_DECL void saver::recover_last_checkpoints(const std::filesystem::path& folder) {
  settle();
  kept_.clear();
  for (checkpoint_entry& e : read_checkpoint_state(folder).all) {
    e.prefix = (folder / e.prefix).string();
    if (checkpoint_files(e.prefix).exist()) kept_.push_back(e);
  }
}

PINION_DECL saver::saved_variable saver::under_its_name(node_id v) const {
  const variable_slice* const part = slice_of(*graph_, v);
  return {part ? part->whole : (*graph_)[v].name, v, part};
}

PINION_DECL std::string saver::write(const checkpoint_contents& taken) {
  write_checkpoint(taken);
  try {
    remember(taken.prefix);
  } catch (const error&) {  // a checkpoint that no list names would never be removed
    if (!is_listed(taken.prefix)) checkpoint_files(taken.prefix).remove();
    throw;
  }
  return taken.prefix;
}

PINION_DECL std::filesystem::path saver::folder_of(const std::string& prefix) {
  const std::filesystem::path folder = std::filesystem::path(prefix).parent_path();
  return folder.empty() ? "." : folder;
}

PINION_DECL bool saver::is_listed(const std::string& prefix) {
  const checkpoint_state known = read_checkpoint_state(folder_of(prefix));
  return std::any_of(known.all.begin(), known.all.end(), [&](const checkpoint_entry& e) {
    return (folder_of(prefix) / e.prefix).lexically_normal() == std::filesystem::path(prefix).lexically_normal();
  });
}

PINION_DECL any_expr saver::read_of(const saved_variable& v) const {
  return {*graph_, {variable_of(*graph_, v.variable).read_id(), 0}};
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

}}}}  // namespace pinion::v0::train::detail

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL std::vector<saver::saved_variable> saver::variables() const {
  std::vector<saved_variable> all;
  if (o_.variables.empty() && o_.names.empty())
    for (const node_id v : graph_->collection("variables")) all.push_back(under_its_name(v));
  for (const operation& v : o_.variables) all.push_back(under_its_name(v.id()));
  for (const auto& [name, v] : o_.names) all.push_back({name, v.id()});
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
  for (const saved_variable& v : all) request.fetches.push_back(read_of(v));
  if (step) request.fetches.push_back(dsl::endpoint_of(*step));
  return from.run(request);
}

// Adds the value of a variable, or of a part, to its tensor. Requires: the parts of a tensor come in the order of their
// rows.
PINION_DECL void saver::add(saved_tensor& to, const saved_variable& v, const any_tensor& value) const {
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

PINION_DECL checkpoint_contents saver::read(session& from, const std::string& path,
                                            const variable_handle<std::int64_t>* step,
                                            std::optional<std::int64_t> number) const {
  auto all = variables();
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return first_row(a) < first_row(b); });
  const std::vector<any_tensor> values = fetch(from, all, step);
  if (step) number = *values.back().data<std::int64_t>();
  checkpoint_contents taken;
  taken.prefix = path + (number ? "-" + std::to_string(*number) : "");
  if (number) taken.notes.emplace("global_step", std::to_string(*number));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const device_spec& asked = (*graph_)[all[i].variable].requested;
    const std::string task = o_.sharded ? to_string(asked.with_type("").with_index(-1)) : "";
    const auto is_here = [&](const checkpoint_contents::shard& s) {
      return first_row(all[i]) > 0 ? s.values.count(all[i].name) == 1 : s.task == task;
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

// Adds a checkpoint to the list and removes the oldest ones. No file is removed unless the new list was written.
PINION_DECL void saver::remember(const std::string& prefix) {
  std::vector<checkpoint_entry> kept = kept_;
  double preserved_at = preserved_at_;
  std::erase_if(kept, [&](const checkpoint_entry& e) { return e.prefix == prefix; });
  kept.push_back({prefix, now()});
  std::vector<std::string> outlived;
  while (o_.max_to_keep > 0 && kept.size() > static_cast<std::size_t>(o_.max_to_keep)) {
    const checkpoint_entry oldest = kept.front();
    kept.erase(kept.begin());
    if (oldest.written_at - preserved_at >= o_.keep_checkpoint_every_n_hours * 3600)
      preserved_at = oldest.written_at;
    else
      outlived.push_back(oldest.prefix);
  }
  checkpoint_state state;
  for (const checkpoint_entry& e : kept)
    state.all.push_back(
        {std::filesystem::path(e.prefix).lexically_proximate(folder_of(prefix)).string(), e.written_at});
  write_checkpoint_state(folder_of(prefix), state);
  kept_ = std::move(kept);
  preserved_at_ = preserved_at;
  for (const std::string& old : outlived) checkpoint_files(old).remove();
}

PINION_DECL void saver::restore(session& to, const std::string& prefix, const restore_options& options) const {
  settle();
  const checkpoint_reader reader(prefix);
  std::vector<saved_variable> found = found_in(reader, prefix, options);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::vector<any_tensor> values;
  std::string name;  // the tensor that was read last; its parts follow one another
  any_tensor whole;
  for (const saved_variable& v : found) {
    if (whole.empty() || name != v.name) whole = reader.read(name = v.name);
    values.push_back(v.part ? detail::rows_of(whole, first_row(v), graph_->type_of({v.variable, 0}).shape) : whole);
  }
  assign(to, found, values);
}

inline std::vector<saver::saved_variable> saver::found_in(const checkpoint_reader& reader, const std::string& prefix,
                                                          const restore_options& options) const {
  std::vector<saved_variable> found;
  std::string missing;
  for (const saved_variable& v : variables()) {
    if (is_in(reader, prefix, v)) {
      found.push_back(v);
      continue;
    }
    const std::string quoted = "'" + v.name + "'";  // a partitioned variable is named once
    if (options.partial || missing.find(quoted) != std::string::npos) continue;
    const std::string near = nearest_name(v.name, reader.names());
    missing += (missing.empty() ? "" : ", ") + quoted + (near.empty() ? "" : " (it has '" + near + "')");
  }
  if (!missing.empty())
    throw error(errc::not_found, "checkpoint '" + prefix + "' does not have " + missing +
                                     "; {.partial = true} restores the others alone");
  return found;
}

inline bool saver::is_in(const checkpoint_reader& reader, const std::string& prefix, const saved_variable& v) const {
  const files::stored_tensor* const t = reader.find(v.name);
  if (!t) return false;
  output_type wanted = graph_->type_of({v.variable, 0});
  if (v.part) wanted.shape = v.part->extent;
  if (t->type == wanted.dtype && fits(t->extent, wanted.shape)) return true;
  const pinion::node& n = (*graph_)[v.variable];
  throw error(errc::invalid_argument, "checkpoint '" + prefix + "' has '" + v.name + "' as " +
                                          std::string(to_string(t->type)) + " " + to_string(t->extent) +
                                          ", and the graph as " + std::string(to_string(wanted.dtype)) + " " +
                                          to_string(wanted.shape))
      .at_node(n.name, n.op, to_string(n.where));
}

PINION_DECL void saver::assign(session& to, const std::vector<saved_variable>& found,
                               const std::vector<any_tensor>& values) const {
  // The initialiser of a variable assigns any value that is fed for its initial value. Variables that share one initial
  // value cannot be fed in one step, so they are assigned one after the other.
  std::vector<bool> done(found.size());
  for (std::size_t left = found.size(); left > 0;) {
    run_request turn;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const node_id assign = variable_of(*graph_, found[i].variable).initializer().id();
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

}}}  // namespace pinion::v0::train
