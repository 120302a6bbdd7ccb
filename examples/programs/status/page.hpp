// A cluster's report as a page of tables.
#pragma once

#include <cstddef>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <pinion/distributed/status/inspect.hpp>

#include "table.hpp"
#include "words.hpp"

namespace status {

// The form of a page.
struct page_form {
  std::size_t width = 120;  // of a line, in columns
  bool colours = false;     // of a terminal
  std::size_t rows = 10;    // of variables, queues and runs of each task; 0: all
};

// The lines of a page.
class page {
 public:
  page(const pinion::cluster_report& of, const page_form& form) : of_(of), form_(form) {
    lines_.push_back(cut(headline(), form_.width));
    tasks();
    missing();
    devices();
    variables();
    queues();
    clients();
    resources();
    sessions();
    runs();
    ways();
    failures();
  }

  const std::vector<std::string>& lines() const { return lines_; }
  std::string whole() const {
    std::string all;
    for (const std::string& line : lines_) all += line + "\n";
    return all;
  }

 private:
  using cells = std::vector<std::string>;

  // Calls use(task, report) for each task that has told its state.
  template <class Use>
  void for_each(const Use& use) const {
    for (const auto& t : of_.tasks)
      if (t.report) use(brief(t.name), *t.report);
  }

  std::string headline() const {
    std::size_t silent = of_.tasks.size(), sessions = 0;
    std::uint64_t variables = 0;
    std::int64_t bytes_of_all = 0;
    double steps = 0;
    for_each([&](const std::string&, const pinion::task_report& r) {
      --silent;
      sessions += r.sessions.size();
      variables += r.variable_count;
      bytes_of_all += r.variable_bytes;
      steps += r.steps.per_second;
    });
    std::string all = count(of_.tasks.size(), "task");
    if (silent > 0) all += fmt::format(" ({} not reached)", silent);
    return all + fmt::format(", {} with {} steps/s, {} of {}", count(sessions, "session"), rate(steps),
                             count(variables, "variable"), bytes(bytes_of_all));
  }

  void tasks() {
    table t({text("TASK"), text("STATE"), text("ADDRESS"), number("UP"), number("PARTS/S"), number("PARTS"),
             number("FAILED"), number("RUNS"), number("QUEUED"), number("SENT"), number("RECEIVED"), number("UNSENT")});
    for (const auto& one : of_.tasks) {
      if (!one.report) {
        t.add({brief(one.name), state_of_silent(one.name), one.address});
        continue;
      }
      const pinion::task_report& r = *one.report;
      t.add({brief(one.name), r.state, one.address, span(r.uptime), rate(r.parts.per_second),
             std::to_string(r.parts.ended), std::to_string(r.parts.failed), std::to_string(r.parts.running),
             std::to_string(r.pool.queued), bytes(r.traffic.bytes_sent), bytes(r.traffic.bytes_received),
             bytes(r.backlog.bytes_waiting)});
    }
    add(t);
  }

  // How a task left that does not answer, as far as others know.
  std::string state_of_silent(const std::string& task) const {
    std::string state = "unreachable";
    for_each([&](const std::string&, const pinion::task_report& r) {
      for (const auto& peer : r.peers)
        if (peer.name == task && (peer.state == "finished" || peer.state == "stopped" || peer.state == "dead"))
          state = peer.state;
    });
    return state;
  }

  void missing() {
    table t({text("NOT REACHED"), text("WHY")});
    for (const auto& one : of_.tasks)
      if (!one.report) t.add({brief(one.name), one.why});
    add(t);
  }

  void devices() {
    table t({text("DEVICE"), number("MEMORY USED"), number("LIMIT"), text("KIND")});
    for_each([&](const std::string&, const pinion::task_report& r) {
      for (const auto& d : r.devices)
        t.add({brief(d.name), bytes(d.memory_used), d.memory_is_limited ? bytes(d.memory_limit) : "-", d.description});
    });
    add(t);
  }

  void variables() {
    table t({text("TASK"), number("BYTES"), text("VARIABLE"), text("DTYPE"), text("SHAPE"), text("DEVICE")});
    for_each([&](const std::string& task, const pinion::task_report& r) {
      const auto left = add_first(t, r.variables, [&](const auto& v) {
        return cells{task,
                     bytes(v.bytes),
                     in_container(v),
                     std::string(to_string(v.dtype)),
                     to_string(v.shape),
                     v.device.substr(v.device.find("/device:") + 1)};
      });
      if (const auto more = r.variable_count - r.variables.size() + left) t.add({task, "", left_out(more)});
    });
    add(t);
  }

  void queues() {
    table t({text("TASK"), text("QUEUE"), number("SIZE"), number("CAPACITY"), text("KIND"), text("STATE")});
    for_each([&](const std::string& task, const pinion::task_report& r) {
      const auto left = add_first(t, r.queues, [&](const auto& q) {
        return cells{task,
                     in_container(q),
                     std::to_string(q.size),
                     q.capacity < 0 ? "-" : std::to_string(q.capacity),
                     q.kind,
                     q.closed ? "closed" : "open"};
      });
      if (left > 0) t.add({task, left_out(left)});
    });
    add(t);
  }

  void clients() {
    table t({text("TASK"), text("CLIENT"), number("HEARD"), number("CONNECTIONS"), number("SESSIONS"), number("RUNS"),
             number("UNSERVED"), number("UNSENT"), number("SLABS"), number("LENT")});
    for_each([&](const std::string& task, const pinion::task_report& r) {
      const auto left = add_first(t, r.clients, [&](const auto& c) {
        return cells{task,
                     c.task.empty() ? c.address : brief(c.task),
                     span(c.silence) + " ago",
                     std::to_string(c.connections),
                     std::to_string(c.sessions),
                     std::to_string(c.runs),
                     bytes(c.bytes_received),
                     bytes(c.bytes_waiting),
                     slabs(c),
                     bytes(c.bytes_lent)};
      });
      if (left > 0) t.add({task, left_out(left)});
    });
    add(t);
  }

  // A row for each task: what is taken of it, of what there is. --json tells the limits of the rest.
  void resources() {
    table t({text("TASK"), text("CLIENTS"), text("SESSIONS"), text("DESCRIPTORS"), text("LENT"), number("SLABS"),
             number("METRICS"), number("SOUGHT"), number("LINES HELD")});
    for_each([&](const std::string& task, const pinion::task_report& r) {
      t.add({task, part(r.backlog.clients, r.limits.clients), part(r.sessions.size(), r.limits.sessions_of_all),
             part(r.descriptors.open, r.descriptors.limit),
             fmt::format("{} of {}", bytes(r.shared.bytes_lent), bytes(r.limits.bytes_lent_of_all)), slabs(r.shared),
             std::to_string(r.backlog.metrics_clients), std::to_string(r.backlog.tasks_sought),
             std::to_string(r.backlog.lines_untold)});
    });
    add(t);
  }
  // "2, 96 MiB" of a client_report or shared_memory_report.
  template <class Report>
  static std::string slabs(const Report& r) {
    return r.slabs == 0 ? "0" : fmt::format("{}, {}", r.slabs, bytes(r.slab_bytes));
  }
  template <class Number, class Most>
  static std::string part(Number n, Most most) {
    return most == std::numeric_limits<Most>::max() ? fmt::format("{}", n) : fmt::format("{} of {}", n, most);
  }

  void sessions() {
    table t({text("TASK"), number("SESSION"), text("OWNER"), number("AGE"), number("STEPS/S"), number("STEPS"),
             number("FAILED"), number("RUNNING"), number("LAST STEP")});
    for_each([&](const std::string& task, const pinion::task_report& r) {
      for (const auto& s : r.sessions)
        t.add({task, std::to_string(s.number), s.owner.empty() ? "this task" : s.owner, span(s.age),
               rate(s.steps.per_second), std::to_string(s.steps.ended), std::to_string(s.steps.failed),
               std::to_string(s.steps.running), s.steps.ended == 0 ? "none" : span(s.quiet) + " ago"});
    });
    add(t);
  }

  void runs() {
    table t({text("TASK"), number("STEP"), text("OF"), number("RUNS FOR"), text("WAITS FOR OR COMPUTES")});
    for_each([&](const std::string& task, const pinion::task_report& r) {
      const auto left = add_first(t, r.runs, [&](const auto& run) {
        return cells{task, std::to_string(run.step), brief(run.master), span(run.age),
                     run.waits_for.empty() ? run.computes : brief(run.waits_for)};
      });
      if (left > 0) t.add({task, "", left_out(left)});
    });
    add(t);
  }

  void ways() {
    table t({text("TASK"), text("MISSES"), text("WHY")});
    for_each([&](const std::string& task, const pinion::task_report& r) {
      for (const auto& p : r.peers)
        if (!p.why.empty()) t.add({task, brief(p.name), p.why});
    });
    add(t);
  }

  void failures() {
    table t({text("TIME (UTC)"), text("TASK"), number("TIMES"), text("LAST FAILURES")});
    for_each([&](const std::string& task, const pinion::task_report& r) {
      const std::size_t from = r.failures.size() - std::min<std::size_t>(r.failures.size(), 3);
      for (std::size_t i = from; i < r.failures.size(); ++i) {
        const auto& f = r.failures[i];
        t.add({clock(f.time), task, std::to_string(f.times), f.sentence});
      }
    });
    add(t);
  }

  // Adds rows for as many of a list as a page shows. Returns how many are left.
  template <class Row, class Cells>
  std::size_t add_first(table& to, const std::vector<Row>& rows, const Cells& cells_of) const {
    const std::size_t shown = form_.rows == 0 ? rows.size() : std::min(rows.size(), form_.rows);
    for (std::size_t i = 0; i < shown; ++i) to.add(cells_of(rows[i]));
    return rows.size() - shown;
  }
  static std::string left_out(std::uint64_t rows) { return fmt::format("and {} more", rows); }
  template <class Row>
  static std::string in_container(const Row& r) {
    return r.container.empty() ? r.name : fmt::format("{} (in '{}')", r.name, r.container);
  }
  // "11:02:33" of a time in milliseconds since 1970.
  static std::string clock(std::int64_t ms) {
    const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
  }

  // Adds a table behind an empty line, unless it has no rows.
  void add(const table& t) {
    if (t.empty()) return;
    lines_.emplace_back();
    bool title = true;
    for (std::string& line : t.lines(form_.width)) {
      lines_.push_back(form_.colours ? coloured(std::move(line), title) : std::move(line));
      title = false;
    }
  }
  // Titles are bold, and a task that is not there is red.
  static std::string coloured(std::string line, bool title) {
    if (title) return "\x1b[1m" + line + "\x1b[0m";
    for (const char* const gone : {" unreachable  ", " dead  ", " stopped  ", " finished  "})
      if (line.find(gone) != line.npos) return "\x1b[31m" + line + "\x1b[0m";
    if (line.find(" stopping ") != line.npos) return "\x1b[33m" + line + "\x1b[0m";
    return line;
  }

  const pinion::cluster_report& of_;
  const page_form form_;
  std::vector<std::string> lines_;
};

}  // namespace status
