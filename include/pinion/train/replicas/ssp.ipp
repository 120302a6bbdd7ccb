// Bodies of <pinion/train/replicas/ssp.hpp>.
#pragma once

#include <pinion/train/replicas/ssp.hpp>

namespace pinion::inline v0::train {

PINION_DECL void ssp_hook::after_create_session(session& on, coordinator& with) {
  replica_ = std::int64_t(on.run({{nodes_->wanted, replica_}}, nodes_->replica, nodes_->enter));
  // Each replica does: the silent one may be the chief.
  with.launch("looks after the replicas", [n = nodes_, &on, &with, pause = worker_timeout_ / 4] {
    while (!with.wait_for_stop(pause)) on.run(n->expire);
  });
}

}  // namespace pinion::inline v0::train
