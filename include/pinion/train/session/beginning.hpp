// How the chief's session begins, and begins again: variables that are in the cluster are kept, or restored from the
// last checkpoint, or initialised.
//
//   in the cluster                       a checkpoint of step C          none
//   all variables, of this training,
//     at step C or later                 kept                            kept in a recovery, else initialised
//   any other                            all are restored                all are initialised
//
// The variables are those of this training where the chief's sign says so, whose number comes of the checkpoints'
// folder. The sign is taken down while variables are written, so that what is half restored is never kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/train/session/chief_sign.hpp>
#include <pinion/train/session/options.hpp>

namespace pinion { inline namespace v0 { namespace train {

// For one thread. Refers to the options; `sign` is empty where variables do not outlive a session, or nothing tells
// whose they are: then none are kept.
class beginning {
 public:
  beginning(const monitored_session_options& o, const std::optional<chief_sign>& sign);

  // The global step of a session; nothing where the graph has none, or it is not initialised.
  std::optional<std::int64_t> step_in(session& s) const;
  // Leaves the variables ready, and returns the line that says how, and how many steps are lost. In a recovery, `seen`
  // is the last step that this program saw.
  std::string run(session& s, bool recovers, std::optional<std::int64_t> seen);
  // Another sign of life, or the last. Requires: a sign.
  void beat(session& s);
  void end(session& s);

 private:
  struct found {
    bool all = false, own = false;
    std::optional<std::int64_t> step;
  };
  found look(session& s) const;
  bool are_kept(const found& here, const std::string& checkpoint, bool recovers) const;
  std::string keep(const found& here, const std::string& checkpoint, bool recovers) const;
  std::string restore_or_initialise(session& s, const std::string& checkpoint, bool recovers) const;
  std::string what_is_lost(const found& here, std::optional<std::int64_t> before, std::optional<std::int64_t> now,
                           bool recovers) const;
  std::optional<std::int64_t> step_of(const std::string& checkpoint) const;

  const monitored_session_options& o_;
  const std::optional<chief_sign>& sign_;
  const std::uint64_t training_;
  std::int64_t beats_;
  std::string name_;  // of the chief's task
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/beginning.ipp>
#endif
