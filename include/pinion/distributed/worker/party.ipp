// Bodies of <pinion/distributed/worker/party.hpp>.
#pragma once

#include <pinion/distributed/worker/party.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL bool are_one(const party& a, const party& b) {
  if (a.channel == b.channel) return true;
  const bool tasks = !a.is_own_master() && !b.is_own_master() && !a.name.empty();
  return tasks && a.name == b.name && a.incarnation == b.incarnation;
}

}}}  // namespace pinion::v0::distributed
