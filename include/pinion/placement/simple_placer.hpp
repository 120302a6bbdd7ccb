// The simple placer: TensorFlow's rules. Requests and kernels narrow the candidates, the first one is taken; constants
// and the like follow their consumers.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/op/catalogue.hpp>
#include <pinion/placement/constraints.hpp>
#include <pinion/spec/names.hpp>

namespace pinion::inline v0 {

// A function object from a problem to a plan; without state. Throws invalid_argument, naming the node and its line,
// where no device can hold a node, and says which devices and kernels there are.
class simple_placer {
 public:
  plan operator()(const placement_problem& p) const { return placing(p).run(); }

 private:
  struct group {
    device_spec request{};
    std::optional<std::size_t> device;
    std::optional<std::size_t> kept_by;  // the member that an earlier run put there
    std::vector<std::size_t> members;
  };

  class placing {
   public:
    explicit placing(const placement_problem& p) : p_(p), groups_of_(p), result_(p.nodes.size()) {}

    plan run() {
      if (p_.devices.empty()) throw error(errc::failed_precondition, "there is no device to place nodes on");
      gather();
      std::vector<std::size_t> waiting;
      for (std::size_t i = 0; i < p_.nodes.size(); ++i)
        if (is_generator(i))
          waiting.push_back(i);
        else
          assign(i);
      for (std::size_t i : waiting) follow_consumers(i);
      return plan(p_.devices, std::move(result_));
    }

   private:
    const node& at(std::size_t i) const { return p_.graph[p_.nodes[i]]; }
    group& group_of(std::size_t i) { return groups_[groups_of_.root(i)]; }

    // What each group asks for; later members add fields, and a clash is an error unless placement is soft.
    void gather() {
      for (std::size_t i = 0; i < p_.nodes.size(); ++i) {
        const node& n = at(i);
        group& g = group_of(i);
        if (!compatible(g.request, n.requested) && !p_.soft)
          throw error(errc::invalid_argument, "'" + n.name + "' must stand with " + others(g) + " on " +
                                                  to_string(g.request) + ", but asks for " + to_string(n.requested))
              .at_node(n.name, n.op, to_string(n.where));
        g.request = merge(n.requested, g.request);
        g.members.push_back(i);
        consumers_of(i);
        if (const auto kept = p_.kept.find(p_.nodes[i]); kept != p_.kept.end()) keep(i, g, device_named(kept->second));
      }
    }
    // State stays where it is; what has none follows.
    void keep(std::size_t i, group& g, std::optional<std::size_t> device) {
      const bool has_state = definition_of(at(i).op).stateful;
      if (g.kept_by && (!has_state || definition_of(at(*g.kept_by).op).stateful)) return;
      g.device = device;
      g.kept_by = i;
    }
    // A node joins a group that an earlier run has put somewhere.
    void check_joins(std::size_t i, const group& g) const {
      const node& n = at(i);
      const device_info& d = p_.devices[*g.device];
      const bool asked_elsewhere = !p_.soft && !is_specification(n.requested, d.spec);
      if (has_kernel(i, d) && !asked_elsewhere) return;
      throw error(errc::invalid_argument,
                  "'" + n.name + "' must stand with '" + at(*g.kept_by).name + "', which is on " + d.name + ", but " +
                      (asked_elsewhere ? "asks for " + to_string(n.requested) : why_no_kernel(i, d.spec.type())))
          .at_node(n.name, n.op, to_string(n.where));
    }
    void consumers_of(std::size_t i) {
      for (const output& in : at(i).inputs)
        if (groups_of_.holds(in.node)) consumers_[groups_of_.index_of(in.node)].push_back(i);
      for (node_id c : at(i).control_inputs)
        if (groups_of_.holds(c)) consumers_[groups_of_.index_of(c)].push_back(i);
    }
    std::string others(const group& g) const {
      return g.members.empty() ? "its group" : "'" + at(g.members[0]).name + "'";
    }
    std::optional<std::size_t> device_named(const std::string& name) const {
      for (std::size_t d = 0; d < p_.devices.size(); ++d)
        if (p_.devices[d].name == name) return d;
      return std::nullopt;
    }

    // No data inputs, one output, not a reference: a constant, say.
    bool is_generator(std::size_t i) const {
      const node& n = at(i);
      return n.inputs.empty() && n.outputs.size() == 1 && !n.outputs[0].reference;
    }

    bool has_kernels(const group& g, const device_info& d) const {
      return std::all_of(g.members.begin(), g.members.end(), [&](std::size_t m) { return has_kernel(m, d); });
    }
    bool has_kernel(std::size_t i, const device_info& d) const {
      const node& n = at(i);
      const definition& def = definition_of(n.op);
      return def.kernels.has(d.spec.type(), def.key(n));
    }

    // Devices that meet a request and have every kernel, the best first: GPU before CPU, home task first, then by name.
    std::vector<std::size_t> candidates(const group& g, const device_spec& request) const {
      std::vector<std::size_t> found;
      for (std::size_t d = 0; d < p_.devices.size(); ++d)
        if (is_specification(request, p_.devices[d].spec) && has_kernels(g, p_.devices[d])) found.push_back(d);
      const bool anywhere = request.job().empty() && request.task() < 0;
      const auto rank = [&](std::size_t d) {
        const auto& spec = p_.devices[d].spec;
        const bool away = anywhere && !is_specification(p_.home, spec);
        return std::pair(away, spec.type() == "GPU" ? 0 : 1);
      };
      std::stable_sort(found.begin(), found.end(), [&](std::size_t a, std::size_t b) {
        return rank(a) != rank(b) ? rank(a) < rank(b) : natural_less(p_.devices[a].name, p_.devices[b].name);
      });
      return found;
    }

    static device_spec without_type(const device_spec& s) {
      return device_spec{}.with_job(s.job()).with_replica(s.replica()).with_task(s.task());
    }

    // Where a node may go, the best first: where its group is, or the group's candidates, its request loosened where
    // that is allowed and needed. Throws where there is no such device.
    std::vector<std::size_t> choices(std::size_t i, const group& g) const {
      if (g.device && g.kept_by) check_joins(i, g);
      if (g.device) return {*g.device};
      auto found = candidates(g, g.request);
      if (found.empty() && p_.soft) found = candidates(g, without_type(g.request));
      if (found.empty()) refuse(i, g);
      return found;
    }

    void assign(std::size_t i) { settle(i, choices(i, group_of(i))[0], ""); }

    void follow_consumers(std::size_t i) {
      group& g = group_of(i);
      const auto found = choices(i, g);
      const auto& users = consumers_[i];
      if (!g.device && !users.empty()) {
        const int first = result_[users[0]].device_index;
        const bool together =
            std::all_of(users.begin(), users.end(), [&](std::size_t u) { return result_[u].device_index == first; });
        if (together && first >= 0 &&
            std::find(found.begin(), found.end(), static_cast<std::size_t>(first)) != found.end())
          return settle(i, static_cast<std::size_t>(first), "with its consumers");
      }
      settle(i, found[0], "");
    }

    void settle(std::size_t i, std::size_t device, std::string reason) {
      group& g = group_of(i);
      const node& n = at(i);
      const bool follows = g.device.has_value();
      g.device = device;
      const device_info& d = p_.devices[device];
      const bool moved = !is_specification(n.requested, d.spec);
      placed_node& out = result_[i];
      out = {.id = p_.nodes[i],
             .name = n.name,
             .op = n.op,
             .requested = to_string(n.requested),
             .device = d.name,
             .device_index = static_cast<int>(device),
             .fallback = moved,
             .location = to_string(n.where)};
      for (const auto& o : n.outputs)
        if (o.shape.known() && !o.reference)
          out.bytes_out += o.shape.count() * static_cast<std::int64_t>(size_of(o.dtype));
      note_refusals(out, i, d);
      if (moved)
        out.reason = "fallback from " + out.requested + ": " + why_not(i, n.requested);
      else if (follows && g.members.size() > 1 && g.members[0] != i)
        out.reason = "with " + at(g.members[0]).name;
      else if (!n.requested.empty())
        out.reason = n.request_reason.empty() ? "pinned" : "pinned by " + n.request_reason;
      else if (p_.kept.count(out.id))
        out.reason = "kept from an earlier run";
      else if (!reason.empty())
        out.reason = std::move(reason);
      else
        out.reason = out.refused.empty() ? "first device" : "only kernel";
    }
    // Better candidates that lack a kernel.
    void note_refusals(placed_node& out, std::size_t i, const device_info& taken) const {
      for (const auto& d : p_.devices)
        if (d.name != taken.name && is_specification(at(i).requested, d.spec) && !has_kernel(i, d))
          out.refused.push_back(d.name + ": " + why_no_kernel(i, d.spec.type()));
    }

    std::string why_no_kernel(std::size_t i, std::string_view type) const {
      const node& n = at(i);
      const definition& def = definition_of(n.op);
      return no_kernel(n.op, def.kernels, def.key(n), type);
    }
    std::string why_not(std::size_t i, const device_spec& request) const {
      std::string devices;
      for (const auto& d : p_.devices) {
        if (is_specification(request, d.spec)) {
          for (std::size_t m : groups_.at(groups_of_.root(i)).members)
            if (!has_kernel(m, d))
              return (m == i ? "" : "'" + at(m).name + "', which must stand with it: ") +
                     why_no_kernel(m, d.spec.type());
        }
        devices += (devices.empty() ? "" : ", ") + d.name;
      }
      // A device that is not there may lack the kernel too: the more helpful thing to know.
      if (!request.type().empty() && (request.type() == "CPU" || request.type() == "GPU")) {
        device_info absent{request, "", 0, ""};
        if (!has_kernel(i, absent)) return why_no_kernel(i, request.type());
      }
      return "no such device; there are " + devices;
    }

    [[noreturn]] void refuse(std::size_t i, const group& g) const {
      const node& n = at(i);
      std::string sentence = g.request.empty() ? "no device can hold '" + n.name + "': "
                                               : "'" + n.name + "' cannot be placed on " + to_string(g.request) + ": ";
      sentence += why_not(i, g.request);
      if (!n.request_reason.empty()) sentence += " (asked for by " + n.request_reason + ")";
      sentence += "; soft placement would loosen the request";
      throw error(errc::invalid_argument, sentence)
          .at_node(n.name, n.op, to_string(n.where))
          .on_device(to_string(g.request));
    }

    const placement_problem& p_;
    colocation_groups groups_of_;
    std::unordered_map<std::size_t, group> groups_;
    std::unordered_map<std::size_t, std::vector<std::size_t>> consumers_;
    std::vector<placed_node> result_;
  };
};

}  // namespace pinion::inline v0
