// A state that is told which tasks of the cluster were lost.
#pragma once

#include <string>

#include <pinion/base/error.hpp>

namespace pinion { inline namespace v0 { namespace state {

// The interface of such a state, beside that of a resource.
class loss_listener {
 public:
  virtual ~loss_listener() = default;
  // Tells that a task, by its full name, has ended or is not there any more, and why. Called in any thread. A task that
  // was lost may come back.
  virtual void lost(const std::string& task, const error& why) = 0;
};

}}}  // namespace pinion::v0::state
