// Bodies of <pinion/runtime/backend.hpp>.
#pragma once

#include <atomic>

#include <pinion/base/process.hpp>
#include <pinion/runtime/backend.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

namespace detail {
struct entered_scheme {
  std::atomic<const remote_scheme*> now{nullptr};
};
}  // namespace detail

PINION_DECL error closed_meanwhile() {
  return error(errc::cancelled, "the session was closed while the step ran");
}

PINION_DECL const remote_scheme* enter_remote_scheme(const remote_scheme* scheme) {
  return of_this_process<detail::entered_scheme>().now.exchange(scheme);
}

PINION_DECL const remote_scheme& remote_scheme_of(const std::string& target) {
  address_of_target(target);
  if (const remote_scheme* const scheme = of_this_process<detail::entered_scheme>().now) return *scheme;
  throw error(
      errc::failed_precondition,
      "the target '" + target + "' is another task: include <pinion/distributed.hpp> in one unit of this program");
}

}}}  // namespace pinion::v0::runtime
