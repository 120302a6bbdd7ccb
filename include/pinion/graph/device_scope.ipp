// Bodies of <pinion/graph/device_scope.hpp>.
#pragma once

#include <array>
#include <vector>

#include <pinion/graph/device_scope.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// The origin of each field of a request.
class request_origins {
 public:
  // Records the fields that `who` has changed.
  void note(const device_spec& before, const device_spec& after, std::string who) {
    if (before == after) return;
    voices_.push_back(std::move(who));
    const int me = static_cast<int>(voices_.size()) - 1;
    const auto field = [&](std::size_t f, const auto& was, const auto& is, const auto& unset) {
      if (is == unset)
        owner_[f] = nobody;
      else if (was != is)
        owner_[f] = me;
    };
    field(0, before.job(), after.job(), std::string_view());
    field(1, before.replica(), after.replica(), -1);
    field(2, before.task(), after.task(), -1);
    field(3, before.type(), after.type(), std::string_view());
    field(4, before.index(), after.index(), -1);
  }
  // Names the origins: "guard at a.cpp:3", "guard at a.cpp:4 (/task:1), policy at a.cpp:3 (/job:ps)".
  std::string text(const device_spec& request) const {
    std::string said;
    for (int v = 0; v < static_cast<int>(voices_.size()); ++v) {
      const std::string fields = to_string(part(request, v));
      if (fields.empty()) continue;
      said += (said.empty() ? "" : ", ") + voices_[static_cast<std::size_t>(v)];
      if (voices_.size() > 1) said += " (" + fields + ")";
    }
    return said;
  }

 private:
  static constexpr int nobody = -1;
  // The fields that came from one origin. A device index is listed with its type, whichever guard set that.
  device_spec part(const device_spec& s, int voice) const {
    device_spec p;
    if (owner_[0] == voice) p = p.with_job(s.job());
    if (owner_[1] == voice) p = p.with_replica(s.replica());
    if (owner_[2] == voice) p = p.with_task(s.task());
    if (owner_[3] == voice || owner_[4] == voice) p = p.with_type(s.type());
    if (owner_[4] == voice) p = p.with_index(s.index());
    return p;
  }
  std::vector<std::string> voices_;
  std::array<int, 5> owner_{nobody, nobody, nobody, nobody, nobody};
};

// Asks a policy. An exception that is no pinion::error becomes one, with a sentence.
inline device_spec answer_of(const device_scope& policy, const node& n, const device_spec& gathered) {
  try {
    return policy.choose(node_view(n, gathered));
  } catch (const error&) {
    throw;
  } catch (...) {
    const error e = current_error();
    throw error(e.code(), "a placement policy threw: " + e.sentence());
  }
}

// Names a guard or policy: "guard at model.cpp:12", "policy by_op at model.cpp:12".
inline std::string asker(const device_scope& s) {
  if (!s.asked_by.empty()) return s.asked_by;
  std::string who = s.kind == device_scope::policy ? "policy" : "guard";
  if (s.use && !s.use->name.empty()) who += " " + std::string(s.use->name);
  return who + " at " + to_string(s.where);
}

}  // namespace detail

PINION_DECL void resolve_request(node& n) {
  device_spec gathered = n.requested;
  detail::request_origins origins;
  origins.note({}, gathered, n.request_reason);
  for (const device_scope* s = n.scope.get(); s && s->kind != device_scope::null; s = s->outer.get()) {
    const device_spec before = gathered;
    const bool asks = s->kind == device_scope::policy;
    if (s->use) s->use->asked.fetch_add(1, std::memory_order_relaxed);
    gathered = asks ? detail::answer_of(*s, n, gathered) : merge(s->own, gathered);
    const bool agrees = !asks && is_specification(s->own, gathered);
    if (s->use && (agrees || gathered != before)) s->use->matched.fetch_add(1, std::memory_order_relaxed);
    if (gathered == before) continue;
    origins.note(before, gathered, detail::asker(*s));
  }
  if (n.on_host && gathered.type() != "CPU") gathered = gathered.with_type("").with_index(-1);
  n.requested = gathered;
  if (!gathered.empty()) n.request_reason = origins.text(gathered);
}

}}  // namespace pinion::v0
