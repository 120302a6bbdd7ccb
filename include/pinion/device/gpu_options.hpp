// What a program takes of the GPUs of its machine: which of them, and how much of their memory.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/device/sim.hpp>

namespace pinion::inline v0 {

struct gpu_options {
  double per_process_memory_fraction = 0;  // of the memory of each GPU; 0: as much as there is
  bool allow_growth = false;               // take it as it is needed, which simulated GPUs always do
  std::string visible_devices = {};        // "1,0": /gpu:0 is GPU 1 of the machine, /gpu:1 is GPU 0; empty: all
};

namespace sim {

// The numbers of "1,0"; throws invalid_argument where one is no number, is not below `count`, or stands there twice.
inline std::vector<std::size_t> visible_numbers(std::string_view list, std::size_t count) {
  const auto refuse = [&](std::string_view entry, const std::string& why) {
    throw error(errc::invalid_argument, "visible_devices \"" + std::string(list) + "\": '" + std::string(entry) + "' " +
                                            why + "; this machine has GPUs 0.." + std::to_string(count - 1));
  };
  std::vector<std::size_t> numbers;
  for (std::string_view rest = list;;) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    std::size_t number = 0;
    const auto [end, failed] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
    if (failed != std::errc{} || end != entry.data() + entry.size()) refuse(entry, "is no number of a GPU");
    if (number >= count) refuse(entry, "is not there");
    if (std::find(numbers.begin(), numbers.end(), number) != numbers.end()) refuse(entry, "is named twice");
    numbers.push_back(number);
    if (entry.size() == rest.size()) return numbers;
    rest.remove_prefix(entry.size() + 1);
  }
}

// The accelerators of a machine as one program sees them: of the GPUs those that it wants, in its order, with the
// memory that it takes; others as they are. On a machine without GPUs the options mean nothing. Throws
// invalid_argument for a list that the machine does not meet, and for a fraction that is not within [0, 1].
inline std::vector<accelerator> visible(const std::vector<accelerator>& machine, const gpu_options& o) {
  std::vector<accelerator> gpus, seen;
  for (const accelerator& a : machine) (a.type == "GPU" ? gpus : seen).push_back(a);
  if (gpus.empty()) return seen;
  const double fraction = o.per_process_memory_fraction;
  if (!(fraction >= 0 && fraction <= 1))
    throw error(errc::invalid_argument, "per_process_memory_fraction is " + std::to_string(fraction) +
                                            ", not within [0, 1]: a simulated GPU has no memory beside its own");
  std::vector<accelerator> mine;
  if (o.visible_devices.empty())
    mine = gpus;
  else
    for (const std::size_t n : visible_numbers(o.visible_devices, gpus.size())) mine.push_back(gpus[n]);
  if (fraction > 0)
    for (accelerator& a : mine)
      a.memory_limit = static_cast<std::int64_t>(fraction * static_cast<double>(a.memory_limit));
  seen.insert(seen.begin(), mine.begin(), mine.end());
  return seen;
}

}  // namespace sim
}  // namespace pinion::inline v0
