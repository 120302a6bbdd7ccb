// The promises that hold whatever the times are: every wait ends, its culprit is named, those go on who can, and no
// more work is lost than the last checkpoint lacks.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "trial.hpp"

namespace faults {

// The promises about one outcome, which it refers to.
class promises {
 public:
  explicit promises(const outcome& o) : o_(o) {}

  // A sentence for each that is broken.
  std::vector<std::string> broken() {
    if (!o_.broke.empty()) return {o_.broke};
    if (!o_.skipped.empty()) return {};
    waits_end();
    culprit_is_named();
    the_dead_are_not_waited_for();
    those_go_on_who_can();
    saved_work_stays();
    sigterm_ends_well();
    return std::move(broken_);
  }

 private:
  void expect(bool holds, const std::string& otherwise) {
    if (!holds) broken_.push_back(otherwise);
  }
  static std::string list(const std::vector<std::string>& names) {
    return names.empty() ? "nobody" : fmt::format("{}", fmt::join(names, ", "));
  }

  void waits_end() {
    expect(o_.wait.empty(), "still wait: " + list(o_.wait));
    expect(o_.late.empty(), "did not end by SIGTERM: " + list(o_.late));
  }
  void culprit_is_named() {
    expect(o_.noticed || o_.stood < o_.short_wait,
           fmt::format("a worker stood for {:.1f} s, and nobody names the culprit", o_.stood));
    expect(o_.noticed || o_.failures.empty(), "somebody failed, and nobody names the culprit");
  }
  // Replicas wait worker_timeout for one that is silent, but not for one whose task is known to be gone.
  void the_dead_are_not_waited_for() {
    const bool is_gone = of_.fault.name == "kill -9" || of_.fault.name == "SIGTERM";
    if (!is_gone || of_.hurt != role::worker) return;
    expect(o_.stood < o_.worker_timeout, fmt::format("others stood for {:.1f} s, for a worker that is gone", o_.stood));
  }
  void those_go_on_who_can() {
    const goers rule = of_.fault.go_on(of_.hurt, of_.mode);
    std::vector<std::string> expected;
    for (const member& m : all_members())
      if (m.job == "worker" && (rule == goers::all || (rule == goers::others && m != member_of(of_.hurt))))
        expected.push_back(m.name());
    expect(o_.go_on == expected, fmt::format("go on: {}, not {}", list(o_.go_on), list(expected)));
  }
  void saved_work_stays() {
    if (o_.go_on.empty()) return;  // what is lost then is what the checkpoint lacks
    // Without a checkpoint to begin with, a chief that is started again initialises the variables, as its options say.
    const bool begins_anew = of_.hurt == role::chief && !of_.saves && of_.fault.restarts_it;
    expect(o_.lost <= o_.at_risk || begins_anew,
           fmt::format("{} steps are lost, and the last checkpoint lacked {}", o_.lost, o_.at_risk));
    expect(o_.lost == 0 || of_.hurt == role::ps || of_.fault.restarts_ps || begins_anew,
           fmt::format("{} steps are lost, and the ps was not hurt", o_.lost));
  }
  void sigterm_ends_well() {
    if (of_.fault.name != "SIGTERM" || of_.hurt == role::launcher) return;
    const std::string ended = member_of(of_.hurt).name() + " ended well";
    expect(std::find(o_.ends.begin(), o_.ends.end(), ended) != o_.ends.end(), "SIGTERM did not end it well");
  }

  const outcome& o_;
  const trial& of_ = o_.of;
  std::vector<std::string> broken_;
};

inline std::vector<std::string> broken_promises(const outcome& o) {
  return promises(o).broken();
}

}  // namespace faults
