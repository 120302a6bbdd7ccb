// A worker's thread that looks whether the chief is there.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph_view.hpp>
#include <pinion/train/coordinator.hpp>
#include <pinion/train/session/chief_sign.hpp>
#include <pinion/train/session/chief_watch.hpp>
#include <pinion/train/session/log.hpp>
#include <pinion/train/session/signal_stop.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Looks at the sign of the chief, writes lines of what changes, and gives a lost chief up after `max_wait`, if the
// steps of the program end only while there is one. It refers to the sign. run() is for one thread, the rest for any.
class chief_monitor {
 public:
  struct limits {
    std::chrono::milliseconds heartbeat, max_wait;
  };
  // The graph tells whether its steps need the chief.
  chief_monitor(const chief_sign& sign, graph_view g, limits given, text_sink log);

  // Looks, by steps of the session, until the coordinator stops. Where it gives up, it stops the coordinator with an
  // error that names the chief, and closes the session.
  void run(session& on, coordinator& with);
  bool gave_up() const { return gave_up_; }
  // Waits for a lost chief, after a step that took too long because of that. Returns true if it is back.
  bool wait_until_back(const coordinator& with, const signal_stop& signals) const;

 private:
  void look(session& on, chief_watch& chief) const;
  void tell_of(chief_watch::change now, const chief_watch& chief) const;
  std::string without_chief() const;
  error too_long(const chief_watch& chief, std::chrono::seconds silence) const;

  const chief_sign& sign_;
  const limits limits_;
  const text_sink log_;
  bool needs_chief_ = false;  // steps of this program end only while there is a chief
  bool has_clocks_ = false;   // its steps wait for slower replicas, as the chief's is
  std::atomic<bool> is_lost_ = false, gave_up_ = false;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/session/chief_monitor.ipp>
#endif
