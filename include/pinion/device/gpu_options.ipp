// Bodies of <pinion/device/gpu_options.hpp>.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <numeric>

#include <pinion/base/error.hpp>
#include <pinion/base/number_text.hpp>
#include <pinion/device/gpu_options.hpp>

namespace pinion { inline namespace v0 {

namespace devices {

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

PINION_DECL std::vector<gpu_share> chosen_gpus(const gpu_options& o, std::size_t count) {
  if (count == 0) return {};
  const double fraction = o.per_process_memory_fraction;
  if (!(fraction >= 0 && fraction <= 1))
    throw error(errc::invalid_argument, "per_process_memory_fraction is " + number_text(fraction) +
                                            ", not within [0, 1]: a GPU has no memory beside its own");
  if (o.virtual_devices < 1)
    throw error(errc::invalid_argument,
                "virtual_devices is " + std::to_string(o.virtual_devices) + "; a GPU counts as one device at least");
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  if (!o.visible_devices.empty()) numbers = visible_numbers(o.visible_devices, count);
  std::vector<gpu_share> shares;
  for (const std::size_t n : numbers)
    shares.insert(shares.end(), static_cast<std::size_t>(o.virtual_devices),
                  {n, (fraction > 0 ? fraction : 1) / o.virtual_devices});
  return shares;
}

}  // namespace devices

namespace sim {

PINION_DECL std::vector<accelerator> visible(const std::vector<accelerator>& machine, const gpu_options& o) {
  std::vector<accelerator> gpus, seen, others;
  for (const accelerator& a : machine) (a.type == "GPU" ? gpus : others).push_back(a);
  for (const devices::gpu_share& share : devices::chosen_gpus(o, gpus.size())) {
    seen.push_back(gpus[share.number]);
    seen.back().memory_limit = share.of(seen.back().memory_limit);
  }
  seen.insert(seen.end(), others.begin(), others.end());
  return seen;
}

}  // namespace sim

}}  // namespace pinion::v0
