// Bodies of <pinion/train/session/beginning.hpp>.
#pragma once

#include <algorithm>
#include <filesystem>
#include <random>
#include <thread>

#include <fmt/format.h>

#include <pinion/files/folder.hpp>
#include <pinion/spec/names.hpp>
#include <pinion/train/checkpoint/checkpoint_files.hpp>
#include <pinion/train/checkpoint/checkpoint_reader.hpp>
#include <pinion/train/handle.hpp>
#include <pinion/train/hooks/checkpoint_saver.hpp>
#include <pinion/train/session/beginning.hpp>
#include <pinion/train/session/chief_watch.hpp>

namespace pinion { inline namespace v0 { namespace train {

namespace detail {

PINION_DECL std::uint64_t number_of_training(const std::string& folder) {
  std::random_device random;
  if (folder.empty()) return (std::uint64_t{random()} << 32) + random();
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : files::resolved(std::filesystem::path(folder) / "model").parent_path().string())
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

inline error second_chief(const std::string& first, const std::string& second) {
  return error(errc::failed_precondition,
               fmt::format("{} is the chief of a training on these variables, and gives signs of life; a second chief, "
                           "{}, would write over what it writes: let one task be the chief (.is_chief), or wait until "
                           "that training has ended",
                           first, second));
}

// Has the saver remove like its own those checkpoints that the training's own hook has made.
inline void take_over_checkpoints(const monitored_session_options& o) {
  o.scaffold.saver->recover_last_checkpoints(o.checkpoint_dir, checkpoint_saver_options().basename);
}

// Calls a function that reads a checkpoint. Where that is damaged, the error says how to go on without it.
template <class F>
void say_way_on(const std::string& checkpoint, const std::string& before, const F& read) {
  try {
    read();
  } catch (const error& e) {
    if (e.code() != errc::data_loss) throw;
    const checkpoint_files its(checkpoint);
    throw error(e.code(), fmt::format("{}; to {}, remove {}", e.sentence(),
                                      before.empty() ? "begin anew" : "go on from " + before,
                                      (files::is_there(its.whole()) ? its.whole() : its.index()).string()));
  }
}

// The remark on checkpoints that the list of a folder does not name.
inline std::string told(const std::string& folder, const std::vector<std::string>& unlisted) {
  if (unlisted.empty()) return "";
  return fmt::format(
      "; {0} has {1}{2}, which its list of checkpoints does not name, and which new ones of these names replace; "
      "to go on from one of them, stop, and write the line 'model_checkpoint_path: \"NAME\"' into {0}/checkpoint",
      folder, unlisted.back(), unlisted.size() > 1 ? fmt::format(" and {} more", unlisted.size() - 1) : "");
}

inline std::string at_step(std::optional<std::int64_t> step) {
  return step ? fmt::format(" at step {}", *step) : "";
}

}  // namespace detail

PINION_DECL beginning::beginning(const monitored_session_options& o, const std::optional<chief_sign>& sign)
    : o_(o), sign_(sign), training_(detail::number_of_training(o.checkpoint_dir)), beats_(std::random_device()()) {}

PINION_DECL std::optional<std::int64_t> beginning::step_in(session& s) const {
  const auto& steps = s.graph().collection("global_step");
  if (steps.empty()) return std::nullopt;
  try {
    return std::int64_t(s.run(handle_of<std::int64_t>(s.graph(), steps[0])));
  } catch (const error& e) {
    if (e.code() != errc::failed_precondition) throw;
    return std::nullopt;
  }
}

inline beginning::found beginning::look(session& s) const {
  found here;
  if (!sign_) return here;
  const auto note = sign_->look(s);
  here.own = note && note->training == training_;
  here.step = step_in(s);
  here.all = is_ready(s);
  return here;
}

inline bool beginning::is_ready(session& s) const {
  try {
    s.run(o_.scaffold.ready_for_local_init_op);
    return true;
  } catch (const error& e) {
    if (e.code() != errc::failed_precondition) throw;
    return false;
  }
}

inline std::optional<std::int64_t> beginning::step_of(const std::string& checkpoint) const {
  const graph_view g(*o_.config.graph);
  const auto& steps = g.collection("global_step");
  if (steps.empty()) return std::nullopt;
  const checkpoint_reader reader(checkpoint);
  const std::string name = o_.scaffold.saver->name_of(handle_of<std::int64_t>(*o_.config.graph, steps[0]));
  if (!reader.find(name)) return std::nullopt;
  const any_tensor step = reader.read(name);
  return step.dtype() == dtype::int64 ? std::optional(*step.data<std::int64_t>()) : std::nullopt;
}

inline bool beginning::are_kept(const found& here, const std::string& checkpoint, bool recovers) const {
  if (!here.all || !here.own || !here.step) return false;
  if (checkpoint.empty()) return recovers;
  const auto saved = step_of(checkpoint);
  return saved && *here.step >= *saved;
}

inline void beginning::initialise(session& s) const {
  s.run(run_request{.feeds = o_.scaffold.init_feeds, .targets = {o_.scaffold.init_op}});
  if (o_.scaffold.init_fn) o_.scaffold.init_fn(s);
}

inline std::string beginning::restore_or_initialise(session& s, const choice& from, bool recovers) const {
  if (const std::string& checkpoint = from.checkpoint; !checkpoint.empty()) {
    restore(s, from);
    detail::take_over_checkpoints(o_);
    const std::string at = detail::at_step(step_in(s));
    return recovers ? fmt::format("recovered{}, from checkpoint {}", at, checkpoint)
                    : fmt::format("restored checkpoint {}: training goes on{}", checkpoint, at);
  }
  initialise(s);
  const std::string at = detail::at_step(step_in(s));
  return recovers ? fmt::format("recovered{}: there is no checkpoint, so the variables are initialised anew", at)
                  : fmt::format("initialised the variables: training begins{}", at);
}

inline void beginning::restore(session& s, const choice& from) const {
  const auto in_full_or_part = [&] {
    detail::say_way_on(from.checkpoint, from.before,
                       [&] { o_.scaffold.saver->restore(s, from.checkpoint, {.partial = from.lacks}); });
  };
  if (from.lacks) initialise(s);
  in_full_or_part();
  if (from.lacks || is_ready(s)) return;
  initialise(s);  // the saver has not all variables
  in_full_or_part();
}

PINION_DECL void beginning::learn_own_name(session& s) {
  if (name_.empty()) name_ = sign_->own_task(s);
}

inline void beginning::expect_no_other_chief(session& s) {
  const auto seen = sign_->look(s);
  if (!seen || seen->beat == chief_note::ended || seen->name == name_) return;
  chief_watch other(o_.heartbeat);
  for (auto now = seen; other.see(now, chief_watch::clock::now()) != chief_watch::change::lost; now = sign_->look(s)) {
    if (now && now->beat == chief_note::ended) return;
    if (!now || now->beat != seen->beat) throw detail::second_chief(seen->name, name_);
    std::this_thread::sleep_for(o_.heartbeat / 4);
  }
}

PINION_DECL std::string beginning::run(session& s, bool recovers, std::optional<std::int64_t> seen) {
  if (sign_ && o_.heartbeat.count() > 0) expect_no_other_chief(s);
  o_.scaffold.saver->settle();  // a checkpoint that is still being written may be the last one
  const choice from = choose();
  const found here = look(s);
  const bool keeps = are_kept(here, from.checkpoint, recovers);
  if (sign_ && !keeps) sign_->put(s, {.beat = chief_note::writes, .name = name_});
  std::string line = keeps ? keep(here, from.checkpoint, recovers) : restore_or_initialise(s, from, recovers);
  s.run(o_.scaffold.ready_for_local_init_op);
  s.run(o_.scaffold.local_init_op);
  s.run(o_.scaffold.ready_op);
  const auto now = step_in(s);
  if (sign_) beat(s);  // from here on other workers make steps
  return line + what_is_lost(here, recovers ? std::max(here.step, seen) : here.step, now, recovers) + from.remark;
}

// Returns the names of what a checkpoint lacks.
inline std::string beginning::missing_in(const std::string& checkpoint, const std::string& before) const {
  std::string missing;
  detail::say_way_on(checkpoint, before, [&] { missing = o_.scaffold.saver->missing_in(checkpoint); });
  return missing;
}

inline beginning::choice beginning::choose() const {
  choice made;
  if (o_.checkpoint_dir.empty()) return made;
  const auto listed = listed_checkpoints(o_.checkpoint_dir);
  choice in_part;  // of the newest that will do in part
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const std::string &checkpoint = listed[i], before = i + 1 < listed.size() ? listed[i + 1] : "";
    const auto lacks = outcome_of([&] { return missing_in(checkpoint, before); });
    if (!lacks && !in_part.checkpoint.empty()) {  // it is older than one that will do
      made.remark += fmt::format("; checkpoint {} is passed over: {}", checkpoint, lacks.failure()->sentence());
      continue;
    }
    const std::string missing = lacks.value();
    if (missing.empty()) {
      made.checkpoint = checkpoint;
      made.before = before;
      made.remark += later_than(checkpoint);
      return made;
    }
    if (o_.scaffold.restoring.partial && in_part.checkpoint.empty() && step_of(checkpoint))
      in_part = {checkpoint, made.remark + fmt::format("; it does not have {}: initialised", missing), true, before};
    made.remark += fmt::format("; checkpoint {} is passed over, since it does not have {}", checkpoint, missing);
  }
  if (!in_part.checkpoint.empty()) return in_part.remark += later_than(in_part.checkpoint), in_part;
  if (!listed.empty() && o_.scaffold.restoring.partial &&
      !graph_view(*o_.config.graph).collection("global_step").empty())
    throw error(errc::not_found,
                fmt::format("no checkpoint in {} has the global step, without which none is restored in part{}",
                            o_.checkpoint_dir, made.remark));
  // Where all of them lack something, the training has changed: it does not begin anew over their files.
  if (!listed.empty()) return {.checkpoint = listed.front()};
  if (const auto gone = read_checkpoint_state(o_.checkpoint_dir).all; !gone.empty())
    made.remark =
        fmt::format("; the list of checkpoints in {} names '{}'{}, of which there is no file", o_.checkpoint_dir,
                    gone.back().prefix, gone.size() > 1 ? fmt::format(" and {} more", gone.size() - 1) : "");
  made.remark += detail::told(o_.checkpoint_dir, unlisted_checkpoints(o_.checkpoint_dir));
  return made;
}

inline std::string beginning::later_than(const std::string& checkpoint) const {
  const std::string name = std::filesystem::path(checkpoint).filename().string();
  const auto series = [](const std::string& of) { return of.substr(0, of.rfind('-')); };
  auto others = unlisted_checkpoints(o_.checkpoint_dir);
  std::erase_if(others, [&](const auto& one) { return series(one) != series(name) || !natural_less(name, one); });
  return detail::told(o_.checkpoint_dir, others);
}

inline std::string beginning::keep(const found& here, const std::string& checkpoint, bool recovers) const {
  const std::string line = fmt::format("{}{}: the variables are there", recovers ? "recovered" : "training goes on",
                                       detail::at_step(here.step));
  if (checkpoint.empty()) return line;
  detail::take_over_checkpoints(o_);
  return line + ", and no older than checkpoint " + checkpoint;
}

inline std::string beginning::what_is_lost(const found& here, std::optional<std::int64_t> before,
                                           std::optional<std::int64_t> now, bool recovers) const {
  if (!before || !now || *before <= *now) return "";
  if (!here.own && !recovers)
    return fmt::format("; the cluster had variables of another training, at step {}", *before);
  // The step that was seen came with a run, which may have counted itself afterwards, and others may have gone on.
  return fmt::format("; the cluster was at step {}{}: {} {} lost{}", *before,
                     here.step && !here.all ? ", but not all variables are left" : "", *before - *now,
                     *before - *now == 1 ? "step is" : "steps are", here.step == before ? "" : ", if not more");
}

PINION_DECL void beginning::beat(session& s) {
  sign_->put(s, {.training = training_, .beat = ++beats_, .name = name_});
}

PINION_DECL void beginning::end(session& s) {
  sign_->put(s, {.training = training_, .beat = chief_note::ended, .name = name_});
}

}}}  // namespace pinion::v0::train
