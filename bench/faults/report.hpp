// The table of outcomes: for people in Markdown, for programs as tab-separated values.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "promises.hpp"
#include "trial.hpp"

namespace faults {

inline std::string seconds_of(const outcome& o) {
  if (!o.skipped.empty()) return "skipped";
  return o.noticed ? fmt::format("{:.1f}", *o.noticed) : "-";
}
inline std::string who_goes_on(const outcome& o) {
  if (o.go_on.size() == workers) return "all";
  return o.go_on.empty() ? "none" : fmt::format("{}", fmt::join(o.go_on, ", "));
}
// Cells of Markdown must not have bars.
inline std::string cell(std::string text) {
  std::replace(text.begin(), text.end(), '|', '/');
  return text;
}
// "a / b / c", or "a" where all are equal.
inline std::string together(const std::vector<std::string>& all) {
  if (std::all_of(all.begin(), all.end(), [&](const std::string& s) { return s == all[0]; })) return all[0];
  return fmt::format("{}", fmt::join(all, " / "));
}

// A row for each fault and role; what differs between async, sync and ssp has bars between.
inline std::string markdown(const std::vector<outcome>& all) {
  std::vector<std::pair<std::string, std::vector<const outcome*>>> groups;
  for (const outcome& o : all) {
    const std::string key = fmt::format("{} | {}", o.of.fault.name, name_of(o.of.hurt));
    const auto at = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == key; });
    (at == groups.end() ? groups.emplace_back(key, std::vector<const outcome*>{}) : *at).second.push_back(&o);
  }
  std::string text =
      "| fault | of | s to notice | first sentence that names it | s without steps | steps lost, with checkpoints | "
      "without | go on |\n|---|---|---|---|---|---|---|---|\n";
  for (const auto& [key, group] : groups) {
    std::vector<std::string> noticed, stood, lost[2], go_on;
    std::string sentence;
    for (const outcome* o : group) {
      const bool first_of_mode = std::none_of(group.begin(), group.end(), [&](const outcome* other) {
        return other->of.mode == o->of.mode && other->of.saves && !o->of.saves;
      });
      if (first_of_mode) {
        noticed.push_back(seconds_of(*o));
        stood.push_back(fmt::format("{:.1f}", o->stood));
        go_on.push_back(who_goes_on(*o));
      }
      if (o->skipped.empty()) lost[o->of.saves ? 0 : 1].push_back(fmt::format("{} of {}", o->lost, o->accepted));
      if (sentence.empty()) sentence = o->skipped.empty() ? o->sentence : o->skipped;
    }
    for (auto& l : lost)
      if (l.empty()) l.push_back("");
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", key, together(noticed), cell(sentence),
                        together(stood), together(lost[0]), together(lost[1]), together(go_on));
  }
  return text;
}

inline std::string tab_separated(const std::vector<outcome>& all) {
  std::string text =
      "fault\thurts\tmode\tcheckpoints\tnoticed_s\tsentence\taccepted\tat_risk\tlost\tunheard\tstood_s\t"
      "go_on\tended\twaiting\tbroken\ttook_s\n";
  for (const outcome& o : all)
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:.1f}\t{}\t{}\t{}\t{}\t{:.1f}\n", o.of.fault.name,
                        name_of(o.of.hurt), o.of.mode, o.of.saves ? "yes" : "no", seconds_of(o),
                        o.skipped.empty() ? o.sentence : o.skipped, o.accepted, o.at_risk, o.lost, o.unheard, o.stood,
                        fmt::join(o.go_on, ","), fmt::join(o.end, ","), fmt::join(o.wait, ","),
                        fmt::join(broken_promises(o), "; "), o.took);
  return text;
}

// All that was said, for an outcome that breaks a promise.
inline std::string story(const outcome& o) {
  std::string text;
  for (const line& l : o.lines) text += fmt::format("    {:7.2f} {}\n", l.at, l.text);
  for (const std::string& e : o.ends) text += fmt::format("            {}\n", e);
  return text;
}

}  // namespace faults
