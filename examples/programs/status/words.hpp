// Numbers as people read them in a table.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace status {

// "0", "512 B", "1.5 KiB", "12 GiB".
inline std::string bytes(std::uint64_t n) {
  if (n == 0) return "0";
  if (n < 1024) return fmt::format("{} B", n);
  double size = static_cast<double>(n);
  for (const char* unit : {"KiB", "MiB", "GiB", "TiB"}) {
    size /= 1024;
    if (size < 999.5) return fmt::format("{:.{}f} {}", size, size < 9.95 ? 1 : 0, unit);
  }
  return fmt::format("{:.0f} PiB", size / 1024);
}
inline std::string bytes(std::int64_t n) {
  return bytes(static_cast<std::uint64_t>(n));
}

// "<1 ms", "40 ms", "2.4 s", "12 s", "3m 20s", "5h 02m", "12d 3h".
inline std::string span(double seconds) {
  if (seconds < .0005) return "<1 ms";
  if (seconds < .9995) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto s = static_cast<std::int64_t>(std::llround(seconds));
  if (s < 100) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{}m {:02}s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{}h {:02}m", s / 3600, s % 3600 / 60);
  return fmt::format("{}d {}h", s / 86400, s % 86400 / 3600);
}

// "0", "0.2", "54.2", "1204".
inline std::string rate(double per_second) {
  return per_second == 0 ? "0" : fmt::format("{:.{}f}", per_second, per_second < 99.95 ? 1 : 0);
}

// "/job:ps/task:0" of "/job:ps/replica:0/task:0": the replica is always 0.
inline std::string brief(std::string name) {
  constexpr std::string_view replica = "/replica:0";
  if (const auto at = name.find(replica); at != name.npos) name.erase(at, replica.size());
  return name;
}

// "1 task", "2 tasks".
inline std::string count(std::uint64_t n, std::string_view of) {
  return fmt::format("{} {}{}", n, of, n == 1 ? "" : "s");
}

}  // namespace status
