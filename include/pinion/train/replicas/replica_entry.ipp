// Bodies of <pinion/train/replicas/replica_entry.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/log.hpp>
#include <pinion/train/replicas/replica_entry.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL replica_entry make_entry(const std::string& name, const operation& here, source_location where) {
  return {.wanted = placeholder<std::int64_t>({}, name + "/wanted", where),
          .task = placeholder<std::string>({}, name + "/task", where),
          .here = here};
}

// Those who wait hear of it within a second. News that cannot be had is no error here: the next step meets the same
// trouble.
PINION_DECL void look_after_others(session& on, const coordinator& with, const expr<std::string>& news,
                                   const std::string& task, std::chrono::milliseconds worker_timeout) {
  const auto pause = std::min(worker_timeout / 4, std::chrono::milliseconds(1000));
  while (!with.wait_for_stop(pause)) try {
      const tensor<std::string> lines = on.run(news);
      for (const std::string& line : lines.span()) write_log(log_level::warning, task, line);
    } catch (const error&) {
    }
}

}}}}  // namespace pinion::v0::train::detail
