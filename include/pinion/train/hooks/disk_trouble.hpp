// Errors of a disk while training goes on: which of them may pass, and how they are told.
#pragma once

#include <string>

#include <pinion/base/config.hpp>
#include <pinion/runtime/options.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Can it be mended while training goes on (a full disk, a folder without rights), or would it fail for ever?
bool may_pass(const error& e);

// Writes a line to a sink; to standard error where it is empty.
void tell(const text_sink& to, const std::string& line);

// Lets training go on without what can be written no longer: it is told of once, until it works again. A value, for one
// thread.
class disk_trouble {
 public:
  // `what` is in the plural: "summaries". Standard error where the sink is empty.
  disk_trouble(std::string what, text_sink warn, bool has_worked);

  // Calls what writes. Throws what no later attempt would mend, and whatever happens before it has ever worked.
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
  // Called by the handler of that error.
  void tell_or_throw(const error& caught);

  std::string what_;
  text_sink warn_;
  bool has_worked_, told_ = false;
};

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/hooks/disk_trouble.ipp>
#endif
