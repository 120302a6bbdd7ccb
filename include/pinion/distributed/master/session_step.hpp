// A step of a session, cut into one part per task.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/messages.hpp>
#include <pinion/placement/placement.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

struct step_part {
  std::string task;
  register_step message;         // ships the part, also again after a connection was lost
  std::uint64_t generation = 0;  // generation of the channel at the last shipment
};

struct session_step {
  std::uint64_t number = 0;
  runtime::step_signature signature;
  std::vector<output_type> feed_types;
  std::vector<step_part> parts;
  std::shared_ptr<std::mutex> shipping = std::make_shared<std::mutex>();  // held while parts are shipped again

  const step_part* part_of(std::string_view task) const;
  // The memory that it takes at its master and on its tasks, as estimated.
  std::uint64_t memory() const;
};

// Cuts a placed step by task. Its feeds and fetches live on the first CPU of task `home`. `incarnation_of` returns the
// incarnation in which each task is expected.
session_step cut_by_task(graph_view g, const placement& placed, const runtime::step_signature& signature,
                         const std::string& home, const session_id& session, std::uint64_t number,
                         const std::function<std::uint64_t(const std::string&)>& incarnation_of, bool soft,
                         const runtime::transfer_rules& transfers = {});

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/master/session_step.ipp>
#endif
