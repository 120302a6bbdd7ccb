// A step of a session, cut into one part per task.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/wire/messages.hpp>
#include <pinion/distributed/wire/patient_mutex.hpp>
#include <pinion/placement/placement.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

struct step_part {
  std::string task;
  register_step message;         // ships the part, also again after a connection was lost
  std::uint64_t generation = 0;  // generation of the channel at the last shipment
};

// The options of preparing a step.
struct prepare_options {
  bool lines = false;    // does the reply say where each newly placed node went?
  bool partial = false;  // is the step for partial runs?
};

struct session_step {
  std::uint64_t number = 0;
  runtime::step_signature signature;
  std::vector<output_type> feed_types;
  std::vector<step_part> parts;
  std::string partial_at = {};  // the device with the ends of a step of partial runs; "": the step is run at once
  std::shared_ptr<patient_mutex> shipping = std::make_shared<patient_mutex>();  // held while parts are shipped again

  bool is_partial() const { return !partial_at.empty(); }
  const step_part* part_of(std::string_view task) const;
  // Throws invalid_argument unless the value is one for that feed.
  void expect_feed(std::size_t feed, const any_tensor& value) const;
  void expect_feed(std::size_t feed, const described_value& value) const;
  // Throws invalid_argument if its feeds never have so many bytes.
  void expect_feeds_of(std::uint64_t bytes) const;
  // The memory that it takes at its master and on its tasks, as estimated.
  std::uint64_t memory() const;
};

// Cuts a placed step by task. Its feeds and fetches live on the first CPU of task `home`. `incarnation_of` returns the
// incarnation in which each task is expected. With transfers.tell_targets it is a step of partial runs.
session_step cut_by_task(graph_view g, const placement& placed, const runtime::step_signature& signature,
                         const std::string& home, const session_id& session, std::uint64_t number,
                         const std::function<std::uint64_t(const std::string&)>& incarnation_of, bool soft,
                         const runtime::transfer_rules& transfers = {});

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/master/session_step.ipp>
#endif
