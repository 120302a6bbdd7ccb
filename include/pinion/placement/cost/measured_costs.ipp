// Bodies of <pinion/placement/cost/measured_costs.hpp>.
#pragma once

#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>

#include <locale>

#include <pinion/base/error.hpp>
#include <pinion/placement/cost/measured_costs.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL measured_costs::measured_costs() = default;
PINION_DECL measured_costs::measured_costs(const measured_costs&) = default;
PINION_DECL measured_costs::measured_costs(measured_costs&&) noexcept = default;
PINION_DECL measured_costs& measured_costs::operator=(const measured_costs&) = default;
PINION_DECL measured_costs& measured_costs::operator=(measured_costs&&) noexcept = default;
PINION_DECL measured_costs::~measured_costs() = default;

PINION_DECL bool measured_costs::empty() const {
  return entries_.empty();
}
PINION_DECL std::size_t measured_costs::size() const {
  return entries_.size();
}
PINION_DECL bool measured_costs::operator==(const measured_costs& other) const {
  return entries_ == other.entries_;
}

PINION_DECL void measured_costs::add(const std::string& node, std::string_view device_type, double seconds,
                                     std::int64_t times) {
  entry& e = entries_[{node, std::string(device_type)}];
  e.times += times;
  if (e.times == times)
    e.seconds = seconds;  // not computed, so that a file comes back bit for bit
  else
    e.seconds += (seconds - e.seconds) * static_cast<double>(times) / static_cast<double>(e.times);
}

PINION_DECL const measured_costs::entry* measured_costs::find(const std::string& node,
                                                              std::string_view device_type) const {
  const auto at = entries_.find({node, std::string(device_type)});
  return at == entries_.end() ? nullptr : &at->second;
}

PINION_DECL void measured_costs::merge(const measured_costs& other) {
  for (const auto& [key, e] : other.entries_) add(key.first, key.second, e.seconds, e.times);
}

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

}}  // namespace pinion::v0
