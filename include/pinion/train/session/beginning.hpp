// The beginning of a chief's session, the first one or one after a recovery. It decides whether the variables that are
// in the cluster are kept, restored from the last checkpoint, or initialised.
//
//   in the cluster                       a checkpoint of step C          none
//   all variables, of this training,
//     at step C or later                 kept                            kept in a recovery, else initialised
//   any other                            all are restored                all are initialised
//
// Variables belong to this training if the chief's sign in the cluster carries its number, which is derived from the
// folder of the checkpoints. The sign is taken down while variables are written, so that half-restored variables are
// never kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/train/session/chief_sign.hpp>
#include <pinion/train/session/options.hpp>

namespace pinion { inline namespace v0 { namespace train {

namespace detail {
// The number of a training. Trainings that save to one folder have one number, however its path is spelt; a training
// that does not save ("") has a random one, which only this process knows.
std::uint64_t number_of_training(const std::string& folder);
}  // namespace detail

// Makes the variables of a session ready. For one thread; it refers to the options and to `sign`. The sign is empty
// if variables do not outlive a session, or if nothing can tell whose they are; then none are kept.
class beginning {
 public:
  beginning(const monitored_session_options& o, const std::optional<chief_sign>& sign);

  // Learns the name of the session's own task, if it is not known. Requires: a sign. It comes before run() and beat().
  void learn_own_name(session& s);
  // The name of the task in which this program runs; "" if it was not learnt.
  const std::string& own_name() const { return name_; }
  // The global step in a session; empty if the graph has none, or if it is not initialised.
  std::optional<std::int64_t> step_in(session& s) const;
  // Makes the variables ready, and returns a line for the log that says how, and how many steps are lost. In a
  // recovery, `seen` is the last step that this program saw. Throws failed_precondition, and changes nothing, while
  // another task is the chief and gives signs of life; that takes up to one and a half heartbeats to see.
  std::string run(session& s, bool recovers, std::optional<std::int64_t> seen);
  // Renews the sign of the chief.
  void beat(session& s);
  // Marks in the sign that training is over.
  void end(session& s);

 private:
  struct found {
    bool all = false, own = false;
    std::optional<std::int64_t> step;
  };
  void expect_no_other_chief(session& s);
  found look(session& s) const;
  // The newest listed checkpoint that has all variables, or as many as it must have; else the newest, which cannot be
  // restored; "" where there is none. And what is to be said of it and of others.
  struct choice {
    std::string checkpoint = {}, remark = {};
    bool lacks = false;       // are there variables that it does not have?
    std::string before = {};  // the checkpoint before it; "": there is none
  };
  choice choose() const;
  // The remark on checkpoints of a series that are later than the one that is restored, and that no list names.
  std::string later_than(const std::string& checkpoint) const;
  std::string missing_in(const std::string& checkpoint, const std::string& before) const;
  void restore(session& s, const choice& from) const;
  bool is_ready(session& s) const;
  bool are_kept(const found& here, const std::string& checkpoint, bool recovers) const;
  std::string keep(const found& here, const std::string& checkpoint, bool recovers) const;
  void initialise(session& s) const;
  std::string restore_or_initialise(session& s, const choice& from, bool recovers) const;
  std::string what_is_lost(const found& here, std::optional<std::int64_t> before, std::optional<std::int64_t> now,
                           bool recovers) const;
  std::optional<std::int64_t> step_of(const std::string& checkpoint) const;

  const monitored_session_options& o_;
  const std::optional<chief_sign>& sign_;
  const std::uint64_t training_;
  std::int64_t beats_;
  std::string name_;  // of its own task
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/beginning.ipp>
#endif
