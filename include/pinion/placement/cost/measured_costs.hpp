// Measured costs: how long nodes took in steps that ran. A file keeps them between programs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// Mean seconds of each node on each device type, by the node's name. A value. Its special members are out of line so
// that cost models are cheap to compile.
class measured_costs {
 public:
  struct entry {
    double seconds = 0;
    std::int64_t times = 0;
    friend bool operator==(const entry&, const entry&) = default;
  };

  measured_costs();
  measured_costs(const measured_costs&);
  measured_costs(measured_costs&&) noexcept;
  measured_costs& operator=(const measured_costs&);
  measured_costs& operator=(measured_costs&&) noexcept;
  ~measured_costs();

  // Counts one more run of a node.
  void add(const std::string& node, std::string_view device_type, double seconds, std::int64_t times = 1);
  // Null where the node never ran on such a device.
  const entry* find(const std::string& node, std::string_view device_type) const;
  bool empty() const;
  std::size_t size() const;
  void merge(const measured_costs& other);
  bool operator==(const measured_costs& other) const;

  // Writes a text file: the line "pinion costs 1", then a line for each entry, which gives node, device type, mean
  // seconds and the number of runs between tabs. Throws unavailable where the file cannot be written.
  void save(const std::string& path) const;
  // Throws not_found where there is no file, and data_loss, with the line, where it is no cost file.
  static measured_costs load(const std::string& path);

 private:
  static constexpr std::string_view header = "pinion costs 1";
  std::map<std::pair<std::string, std::string>, entry> entries_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/placement/cost/measured_costs.ipp>
#endif
