// Bodies of <pinion/runtime/step/step_trace.hpp>: the trace as Chrome shows it.
#pragma once

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include <pinion/base/json_text.hpp>
#include <pinion/files/output_file.hpp>
#include <pinion/opkit/transfer_key.hpp>
#include <pinion/runtime/step/step_trace.hpp>
#include <pinion/spec/device_spec.hpp>

namespace pinion { inline namespace v0 {

namespace runtime::detail {

class timeline {
 public:
  explicit timeline(const step_trace& t) : trace_(t) {
    for (const trace_event& e : t.events) began_ = std::min(began_, e.start);
    for (const memory_sample& m : t.memory) began_ = std::min(began_, m.time);
    if (t.events.empty() && t.memory.empty()) began_ = 0;
    pair_up();
    for (const trace_event& e : t.events) slices_.push_back(slice_of(e));
    std::stable_sort(slices_.begin(), slices_.end(), [](const slice& a, const slice& b) { return a.start < b.start; });
    for (slice& s : slices_) assign_lane(s);
    number_rows();
  }

  std::string text() const {
    std::string all;
    const auto add = [&all](const std::string& event) { all += (all.empty() ? "\n  " : ",\n  ") + event; };
    for (const auto& [task, pid] : pids_) add(process(task, pid));
    for (const auto& [key, r] : rows_) add(row_name(key, r));
    for (const slice& s : slices_) add(one(s));
    add_arrows(add);
    for (const memory_sample& m : trace_.memory) add(counter(m));
    return fmt::format(
        "{{\n \"traceEvents\": [{}\n ],\n \"displayTimeUnit\": \"ns\",\n \"otherData\": {{\"began_ns\": \"{}\", "
        "\"events_left_out\": {}, {}\"producer\": \"pinion {}\"}}\n}}\n",
        all, began_, trace_.left_out, failure(), PINION_VERSION);
  }

 private:
  struct slice {
    const trace_event* event;
    std::int64_t start, duration;  // nanoseconds since the first event
    int lane = 0;
  };
  // A row of a device: its nodes or its transfers, of one lane.
  struct row_key {
    std::string_view device;
    bool transfers;
    int lane;
    friend bool operator<(const row_key& a, const row_key& b) {
      if (a.device != b.device) return natural_less(a.device, b.device);
      return std::tie(a.transfers, a.lane) < std::tie(b.transfers, b.lane);
    }
  };
  struct row {
    int tid = 0;
    std::int64_t free = 0;  // end of its last slice
  };
  struct natural {
    bool operator()(std::string_view a, std::string_view b) const { return natural_less(a, b); }
  };

  static bool is_transfer(const trace_event& e) { return e.kind != trace_event::compute; }
  // Pairs each receive with the send of its value. The transfers of a loop have the same key in every round: the first
  // sent is the first received.
  void pair_up() {
    std::vector<const trace_event*> sends, receives;
    for (const trace_event& e : trace_.events) {
      if (e.kind == trace_event::send) sends.push_back(&e);
      if (e.kind == trace_event::receive) receives.push_back(&e);
    }
    const auto by = [](auto time) {
      return [time](const trace_event* a, const trace_event* b) { return time(*a) < time(*b); };
    };
    std::stable_sort(sends.begin(), sends.end(), by([](const trace_event& e) { return e.start; }));
    std::stable_sort(receives.begin(), receives.end(), by([](const trace_event& e) { return e.start + e.duration; }));
    std::map<std::string_view, std::deque<const trace_event*>> sent;
    for (const trace_event* s : sends) sent[s->key].push_back(s);
    for (const trace_event* r : receives)
      if (auto& same = sent[r->key]; !same.empty()) {
        send_of_[r] = same.front();
        same.pop_front();
      }
  }
  // Draws a receive from the time when its value was sent, leaving out the wait before. Each slice is long enough for
  // an arrow to end inside.
  slice slice_of(const trace_event& e) const {
    const std::int64_t end = e.start + e.duration;
    std::int64_t start = e.start;
    if (const auto sent = send_of_.find(&e); sent != send_of_.end())
      start = std::clamp(sent->second->start, start, end);
    return {&e, start - began_, std::max<std::int64_t>(end - start, is_transfer(e) ? 3 : 1)};
  }
  static row_key key_of(const slice& s) { return {s.event->device, is_transfer(*s.event), s.lane}; }
  void assign_lane(slice& s) {
    while (rows_[key_of(s)].free > s.start) ++s.lane;
    rows_[key_of(s)].free = s.start + s.duration;
  }
  void number_rows() {
    int next = 1;
    for (auto& [key, r] : rows_) r.tid = next++;
    for (const auto& [key, r] : rows_) number(task_of_device(key.device));
    for (const memory_sample& m : trace_.memory) number(task_of_device(m.device));
  }
  void number(std::string_view task) { pids_.try_emplace(task, static_cast<int>(pids_.size()) + 1); }

  static std::string process(std::string_view task, int pid) {
    return fmt::format(R"({{"ph": "M", "pid": {0}, "name": "process_name", "args": {{"name": {1}}}}},)"
                       "\n  "
                       R"({{"ph": "M", "pid": {0}, "name": "process_sort_index", "args": {{"sort_index": {0}}}}})",
                       pid, json_quoted(task));
  }
  static std::string in_its_task(std::string_view device) {
    std::string name(device.substr(task_of_device(device).size()));
    if (name.starts_with("/device:")) name.erase(0, 8);
    return name;
  }
  std::string row_name(const row_key& key, const row& r) const {
    std::string name = in_its_task(key.device);
    if (key.transfers) name += " transfers";
    if (key.lane > 0) name += fmt::format(" ({})", key.lane + 1);
    return fmt::format(R"({{"ph": "M", "pid": {0}, "tid": {1}, "name": "thread_name", "args": {{"name": {2}}}}},)"
                       "\n  "
                       R"({{"ph": "M", "pid": {0}, "tid": {1}, "name": "thread_sort_index", )"
                       R"("args": {{"sort_index": {1}}}}})",
                       pid_of(key.device), r.tid, json_quoted(name));
  }
  int pid_of(std::string_view device) const { return pids_.find(task_of_device(device))->second; }
  int tid_of(const slice& s) const { return rows_.find(key_of(s))->second.tid; }
  static std::string at(std::int64_t ns) {
    return fmt::format("{}.{:03}", ns / 1000, ns % 1000);  // microseconds
  }
  std::string where(const slice& s) const {
    return fmt::format(R"("pid": {}, "tid": {})", pid_of(s.event->device), tid_of(s));
  }

  std::string one(const slice& s) const {
    const trace_event& e = *s.event;
    const std::string head =
        fmt::format(R"("ph": "X", {}{}, "ts": {}, "dur": {})", colour_of(e), where(s), at(s.start), at(s.duration));
    if (!is_transfer(e))
      return fmt::format(
          R"({{{}, "cat": "op", "name": {}, "args": {{"name": {}, "op": {}, {}"read": {}, "bytes": {}, "thread": {}}}}})",
          head, json_quoted(e.op + note_on(e)), json_quoted(e.node), json_quoted(e.op), fused_in(e), e.read, e.bytes,
          e.thread);
    const transfer_key key(e.key);
    return fmt::format(
        R"({{{}, "cat": "{}", "name": {}, "args": {{"name": {}, "value": {}, "from": {}, "to": {}, "bytes": {}, "thread": {}}}}})",
        head, category_of(key), json_quoted((e.kind == trace_event::send ? "send" : "receive") + note_on(e)),
        json_quoted(e.node), json_quoted(key.edge()), json_quoted(key.from()), json_quoted(key.to()), e.bytes,
        e.thread);
  }
  static std::string note_on(const trace_event& e) {
    if (e.ended == trace_event::well) return "";
    return e.ended == trace_event::failed ? " (failed)" : " (cut off)";
  }
  // Chrome has names for its colours, and Perfetto passes them over.
  static std::string_view colour_of(const trace_event& e) {
    if (e.ended == trace_event::well) return "";
    return e.ended == trace_event::failed ? R"("cname": "terrible", )" : R"("cname": "grey", )";
  }
  std::string counter(const memory_sample& m) const {
    return fmt::format(R"({{"ph": "C", "pid": {}, "ts": {}, "name": {}, "args": {{"bytes": {}}}}})", pid_of(m.device),
                       at(m.time - began_), json_quoted(in_its_task(m.device) + " memory"), m.bytes);
  }
  std::string failure() const {
    return trace_.failure.empty() ? "" : fmt::format(R"("failure": {}, )", json_quoted(trace_.failure));
  }
  static std::string fused_in(const trace_event& e) {
    return e.fused.empty() ? "" : fmt::format(R"("fused": {}, )", json_quoted(e.fused));
  }
  static std::string_view category_of(const transfer_key& key) {
    if (key.is_control()) return "sync";
    return key.from_task() == key.to_task() ? "copy" : "rpc";
  }

  // Draws an arrow from the beginning of each send to the end of its receive, if that is later by the clocks.
  template <class Add>
  void add_arrows(const Add& add) const {
    std::map<const trace_event*, const slice*> sends;
    for (const slice& s : slices_)
      if (s.event->kind == trace_event::send) sends[s.event] = &s;
    int id = 0;
    for (const slice& to : slices_) {
      const auto sent = send_of_.find(to.event);
      if (sent == send_of_.end()) continue;
      const auto from = sends.find(sent->second);
      const std::int64_t left = from->second->start + 1, came = to.start + to.duration - 1;
      if (left >= came) continue;
      const auto end = [&](const char* phase, const slice& s, std::int64_t when) {
        return fmt::format(R"({{"ph": {}, "id": {}, {}, "ts": {}, "cat": "transfer", "name": "value"}})", phase, id,
                           where(s), at(when));
      };
      ++id;
      add(end(R"("s")", *from->second, left));
      add(end(R"("f", "bp": "e")", to, came));
    }
  }

  const step_trace& trace_;
  std::map<const trace_event*, const trace_event*> send_of_;  // by receive
  std::int64_t began_ = std::numeric_limits<std::int64_t>::max();
  std::vector<slice> slices_;
  std::map<row_key, row> rows_;
  std::map<std::string_view, int, natural> pids_;
};

}  // namespace runtime::detail

PINION_DECL std::string step_trace::to_json() const {
  return runtime::detail::timeline(*this).text();
}

PINION_DECL void step_trace::save(const file_path& path) const {
  files::write_file(path.text(), to_json());
}

}}  // namespace pinion::v0
