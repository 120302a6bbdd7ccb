// Bodies of <pinion/train/replicas/replica_entry.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/few_lines.hpp>
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
  few_lines told({.before = "was told of others "},
                 [&](const std::string& line) { write_log(log_level::warning, task, line); });
  const auto pause = std::min(worker_timeout / 4, std::chrono::milliseconds(1000));
  while (!with.wait_for_stop(pause)) try {
      const tensor<std::string> lines = on.run(news);
      const auto now = std::chrono::steady_clock::now();
      for (const std::string& line : lines.span()) told.add("", line, line, now);
      told.tell_rest(now);
    } catch (const error&) {
    }
}

}}}}  // namespace pinion::v0::train::detail
