// Bodies of <pinion/device/gpu_options.hpp>.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <pinion/device/gpu_options.hpp>

namespace pinion { inline namespace v0 { namespace sim {

PINION_DECL std::vector<std::size_t> visible_numbers(std::string_view list, std::size_t count) {
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

PINION_DECL std::vector<accelerator> visible(const std::vector<accelerator>& machine, const gpu_options& o) {
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

}}}  // namespace pinion::v0::sim
