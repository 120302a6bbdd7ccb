// How long nodes took in steps that ran, for the cost model and for people; kept in a file between programs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#if PINION_DEFINE_GRAPH
#include <cstdio>
#include <fstream>
#include <limits>
#include <locale>
#include <sstream>
#endif

namespace pinion::inline v0 {

// Mean seconds of each node on each device type, by the node's name. A value.
class measured_costs {
 public:
  struct entry {
    double seconds = 0;
    std::int64_t times = 0;
    friend bool operator==(const entry&, const entry&) = default;
  };

  // Counts one more run of a node.
  void add(const std::string& node, std::string_view device_type, double seconds, std::int64_t times = 1) {
    entry& e = entries_[{node, std::string(device_type)}];
    e.times += times;
    if (e.times == times)
      e.seconds = seconds;  // as it is: a file comes back bit for bit
    else
      e.seconds += (seconds - e.seconds) * static_cast<double>(times) / static_cast<double>(e.times);
  }
  // Null where the node never ran on such a device.
  const entry* find(const std::string& node, std::string_view device_type) const {
    const auto at = entries_.find({node, std::string(device_type)});
    return at == entries_.end() ? nullptr : &at->second;
  }
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  void merge(const measured_costs& other) {
    for (const auto& [key, e] : other.entries_) add(key.first, key.second, e.seconds, e.times);
  }
  friend bool operator==(const measured_costs&, const measured_costs&) = default;

  // A text file: the line "pinion costs 1", then one line for each entry, node, device type, mean seconds and how many
  // runs that is the mean of, separated by tabs. Throws unavailable where it cannot be written.
  PINION_DECL void save(const std::string& path) const;
  // Throws not_found where there is no file, data_loss, with the line, where it is no cost file.
  PINION_DECL static measured_costs load(const std::string& path);

 private:
  static constexpr std::string_view header = "pinion costs 1";
  std::map<std::pair<std::string, std::string>, entry> entries_;
};

#if PINION_DEFINE_GRAPH
PINION_DECL void measured_costs::save(const std::string& path) const {
  std::ofstream file(path + ".part");
  file.imbue(std::locale::classic());
  file.precision(std::numeric_limits<double>::max_digits10);
  file << header << '\n';
  for (const auto& [key, e] : entries_)
    file << key.first << '\t' << key.second << '\t' << e.seconds << '\t' << e.times << '\n';
  file.close();
  if (!file || std::rename((path + ".part").c_str(), path.c_str()) != 0)
    throw error(errc::unavailable, "cannot write the cost file '" + path + "'");
}

PINION_DECL measured_costs measured_costs::load(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw error(errc::not_found, "there is no cost file '" + path + "'");
  const auto bad = [&](int line, const std::string& why) {
    return error(errc::data_loss, path + ":" + std::to_string(line) + ": " + why);
  };
  std::string text;
  if (!std::getline(file, text) || text != header)
    throw bad(1, "not a cost file, which begins with the line '" + std::string(header) + "'");
  measured_costs costs;
  for (int line = 2; std::getline(file, text); ++line) {
    std::istringstream cells(text);
    cells.imbue(std::locale::classic());
    std::string node, type;
    double seconds = 0;
    std::int64_t times = 0;
    const bool whole = std::getline(cells, node, '\t') && std::getline(cells, type, '\t') &&
                       (cells >> seconds >> times) && (cells >> std::ws).eof();
    if (!whole || !(seconds >= 0 && seconds < 1e9) || times < 1)
      throw bad(line, "expected node, device type, seconds and runs between tabs, found '" + text + "'");
    costs.add(node, type, seconds, times);
  }
  return costs;
}
#endif

}  // namespace pinion::inline v0
