// The faults: how each one is done to a task and undone, and what must hold of the job after it.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "scene.hpp"

namespace faults {

// The workers that make steps in the end.
enum class goers { all, others, none };

struct fault {
  std::string name;
  std::vector<role> roles;
  std::function<void(scene&)> strike;
  std::function<goers(role, const std::string& mode)> go_on;
  double undone_after = -1;  // seconds; below 0: never
  std::function<void(scene&)> undo = {};
  faults::means means = faults::means::none;
  bool at_start = false;     // the victim does not start with the others: it strikes then
  bool restarts_it = false;  // the victim comes back as another process
  bool restarts_ps = false;  // the ps loses its state, too
  bool elastic = false;      // tasks may come back elsewhere
  // Texts of which one names the culprit, beside the task and its address.
  std::function<std::vector<std::string>(const scene&)> culprits = {};
};

namespace rules {

inline goers all(role, const std::string&) {
  return goers::all;
}
// The task is gone for good. Replicas in step need their chief.
inline goers without(role r, const std::string& mode) {
  if (r == role::ps || r == role::launcher) return goers::none;
  return r == role::chief && mode == "sync" ? goers::none : goers::others;
}
inline goers stopped(role r, const std::string& mode) {
  return r == role::launcher ? goers::all : without(r, mode);
}
// Without a chief nothing begins.
inline goers never_there(role r, const std::string&) {
  return r == role::worker ? goers::others : goers::none;
}

}  // namespace rules

// Ways to do a fault, and to undo it.
namespace ways {

using way = std::function<void(scene&)>;

inline way nothing() {
  return [](scene&) {};
}
inline way kill() {
  return [](scene& s) { s.kill(); };
}
inline way start() {
  return [](scene& s) { s.job.start(s.victim); };
}
inline way start_second() {
  return [](scene& s) { s.job.start_second(s.victim); };
}
inline way start_elsewhere() {
  return [](scene& s) { s.job.start_second(s.victim, s.ports.emplace_back().address()); };
}
inline way second_chief() {
  return [](scene& s) { s.job.start_as_chief(s.victim); };
}
inline way signal(int number) {
  return [number](scene& s) { s.job.signal(s.victim.name(), number); };
}
inline way take_port() {
  return [](scene& s) {
    s.squatter = std::make_unique<listening_socket>(s.job.cluster().address(s.victim.job, s.victim.task));
    s.job.start(s.victim);
  };
}
inline way fill_disk() {
  return [](scene& s) { s.disk->fill(); };
}
inline way empty_disk() {
  return [](scene& s) { s.disk->empty(); };
}
// A process that may open nothing more meets that when it has to connect, or to be connected with, again.
inline way exhaust() {
  return [](scene& s) {
    s.job.limit_descriptors(s.victim.name(), true);
    const member other = s.hurt == role::ps ? member{"worker", 2} : member{"ps", 0};
    s.job.signal(other.name(), SIGKILL);
    s.job.start(other);
  };
}
inline way relieve() {
  return [](scene& s) { s.job.limit_descriptors(s.victim.name(), false); };
}
inline way cut() {
  return [](scene& s) { s.host->cut(); };
}
inline way mend() {
  return [](scene& s) { s.host->mend(); };
}
inline way silence(bool data_lane, bool control_lane) {
  return [=](scene& s) { s.way->silence(data_lane, control_lane); };
}
inline way slow() {
  return [](scene& s) { s.way->delay(std::chrono::milliseconds(100)); };
}

}  // namespace ways

// Other names of culprits than those of the victim.
namespace names {

using list = std::function<std::vector<std::string>(const scene&)>;

inline list no_descriptors() {
  return [](const scene&) { return std::vector<std::string>{"Too many open files"}; };
}
inline list folder() {
  return [](const scene& s) { return std::vector<std::string>{s.job.how().folder}; };
}
// A worker knows that there is a chief, and replicas know how many they are, but not which tasks, until they have heard
// of them.
inline list absent() {
  return [](const scene& s) {
    return std::vector<std::string>{s.hurt == role::chief ? "for the chief to" : "(which has not come so far)"};
  };
}
// The other end of the cable: the ps, in the words of the task that was cut off.
inline list other_end() {
  return [](const scene& s) { return std::vector<std::string>{"/job:ps/", s.job.cluster().address("ps", 0)}; };
}

}  // namespace names

inline std::vector<fault> all_faults() {
  using enum role;
  const std::vector<role> tasks{ps, chief, worker}, all{ps, chief, worker, launcher};
  std::vector<fault> f;
  const auto add = [&](fault one) { f.push_back(std::move(one)); };
  add({"kill -9", all, ways::kill(), rules::without});
  for (const int seconds : {1, 6, 30})
    add({.name = fmt::format("kill -9, started again after {} s", seconds),
         .roles = tasks,
         .strike = ways::kill(),
         .go_on = rules::all,
         .undone_after = static_cast<double>(seconds),
         .undo = ways::start(),
         .restarts_it = true});
  add({.name = "kill -9, started again elsewhere after 1 s",
       .roles = {ps},
       .strike = ways::kill(),
       .go_on = rules::all,
       .undone_after = 1,
       .undo = ways::start_elsewhere(),
       .restarts_it = true,
       .elastic = true});
  add({"SIGSTOP for 5 s", all, ways::signal(SIGSTOP), rules::all, 5, ways::signal(SIGCONT)});
  add({"SIGSTOP for good", all, ways::signal(SIGSTOP), rules::stopped});
  add({"SIGTERM", all, ways::signal(SIGTERM), rules::without});
  add({.name = "never starts",
       .roles = tasks,
       .strike = ways::nothing(),
       .go_on = rules::never_there,
       .at_start = true,
       .culprits = names::absent()});
  add({.name = "starts 5 s late",
       .roles = tasks,
       .strike = ways::nothing(),
       .go_on = rules::all,
       .undone_after = 5,
       .undo = ways::start(),
       .at_start = true,
       .culprits = names::absent()});
  add({.name = "port taken by a stranger",
       .roles = tasks,
       .strike = ways::take_port(),
       .go_on = rules::never_there,
       .at_start = true});
  add({"started twice", tasks, ways::start_second(), rules::all});
  add({"started twice, at two addresses", {chief, worker}, ways::start_elsewhere(), rules::all});
  add({"comes back as a second chief", {worker}, ways::second_chief(), rules::without});  // it is refused
  add({.name = "disk full for 5 s",
       .roles = {chief},
       .strike = ways::fill_disk(),
       .go_on = rules::all,
       .undone_after = 5,
       .undo = ways::empty_disk(),
       .means = means::small_disk,
       .culprits = names::folder()});
  add({.name = "no descriptors for 5 s",
       .roles = tasks,
       .strike = ways::exhaust(),
       .go_on = rules::all,
       .undone_after = 5,
       .undo = ways::relieve(),
       .restarts_ps = true,
       .culprits = names::no_descriptors()});
  add({.name = "network cut for 5 s",
       .roles = tasks,
       .strike = ways::cut(),
       .go_on = rules::all,
       .undone_after = 5,
       .undo = ways::mend(),
       .means = means::far_host,
       .culprits = names::other_end()});
  add({.name = "network cut for good",
       .roles = tasks,
       .strike = ways::cut(),
       .go_on = rules::without,
       .means = means::far_host,
       .culprits = names::other_end()});
  const std::pair<const char*, ways::way> by_proxy[] = {
      {"half-open: connections are silent", ways::silence(true, true)},
      {"data lane silent", ways::silence(true, false)},
      {"control lane silent", ways::silence(false, true)},
      {"slow: 100 ms each way", ways::slow()}};
  for (const auto& [name, strike] : by_proxy)
    add({.name = name, .roles = tasks, .strike = strike, .go_on = rules::all, .means = means::proxy});
  return f;
}

}  // namespace faults
