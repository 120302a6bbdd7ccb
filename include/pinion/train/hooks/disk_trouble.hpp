// Errors of a disk during training: which of them may pass, and how they are reported.
#pragma once

#include <string>

#include <pinion/base/config.hpp>
#include <pinion/runtime/options.hpp>

namespace pinion { inline namespace v0 { namespace train {

// True for an error that may be mended while training goes on, such as a full disk or a folder that is not writable;
// false for one that would fail again (invalid_argument, failed_precondition, unimplemented and internal), and for one
// of a session: cancelled, deadline_exceeded, aborted and unavailable.
bool may_pass(const error& e);

// Writes a line to a sink, or to standard error if the sink is empty.
void tell(const text_sink& to, const std::string& line);

// Lets training go on while an output of it, such as a file of summaries, cannot be written. It reports the trouble
// once, and again only after a success in between. A value for one thread.
class disk_trouble {
 public:
  // `what` names the output in the plural, as in "summaries"; `warn` receives the reports, or standard error if it is
  // empty. `has_worked` true: the first failure is reported, not thrown.
  disk_trouble(std::string what, text_sink warn, bool has_worked);

  // Calls a function that writes. Rethrows its error if a later attempt would fail as well, or if the output has never
  // worked.
  template <class F>
  void survive(F&& write) {
    try {
      write();
      has_worked_ = true;
      told_ = false;
    } catch (const error& e) {
      tell_or_throw(e);
    }
  }

 private:
  // Reports or rethrows the error. Requires: it is called by the handler of that error.
  void tell_or_throw(const error& caught);

  std::string what_;
  text_sink warn_;
  bool has_worked_, told_ = false;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/disk_trouble.ipp>
#endif
