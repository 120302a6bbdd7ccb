// Bodies of <pinion/runtime/backend.hpp>.
#pragma once

#include <pinion/base/process.hpp>
#include <pinion/runtime/backend.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL remote_scheme& remote_sessions() {
  return of_this_process<remote_scheme>();
}

PINION_DECL const remote_scheme& remote_scheme_of(const std::string& target) {
  address_of_target(target);
  if (!remote_sessions().make_session)
    throw error(
        errc::failed_precondition,
        "the target '" + target + "' is another task: include <pinion/distributed.hpp> in one unit of this program");
  return remote_sessions();
}

}}}  // namespace pinion::v0::runtime
