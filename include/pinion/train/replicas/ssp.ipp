// Bodies of <pinion/train/replicas/ssp.hpp>.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <pinion/graph/called_from.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/sync/op.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/train/replicas/ssp.hpp>
#include <pinion/train/task_of.hpp>

namespace pinion { inline namespace v0 { namespace train {

PINION_DECL void ssp_hook::after_create_session(session& on, coordinator& with) {
  const detail::replica_entry& entry = nodes_->entry;
  const std::string task = task_of(on, entry.here);
  replica_ = std::int64_t(
      on.run({{entry.wanted, replica_}, {entry.task, tensor<std::string>(task)}}, entry.got, nodes_->enter));
  // Each replica does this, since the silent one may be the chief.
  with.launch("looks after the replicas", [n = nodes_, &on, &with, task, worker_timeout = worker_timeout_] {
    detail::look_after_others(on, with, n->entry.news, task, worker_timeout);
  });
}

PINION_DECL void ssp_hook::end(session& on) {
  on.run(nodes_->leave);
}

}}}  // namespace pinion::v0::train

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL void check_ssp_step(const minimize_options& options) {
  if (options.global_step.empty())
    throw error(errc::invalid_argument,
                "ssp keeps its clocks beside the global step: give it .global_step, as of "
                "tr::get_or_create_global_step()");
}

PINION_DECL std::shared_ptr<ssp_nodes> make_ssp_nodes(const ssp_options& o, const operation& applied,
                                                      const minimize_options& options, source_location where) {
  const called_from line(where);
  graph& g = options.global_step.owner();
  const control_dependencies nothing{nullptr};
  auto made = std::make_shared<ssp_nodes>();
  const output clock = [&]() -> output {
    const colocate_with beside{operation(options.global_step)};
    return {build(g, {.op = op::replica_clock::name,
                      .base_name = o.name + "/clock",
                      .attrs = {{"total_num_replicas", o.total_num_replicas}, {"shared_name", o.name + "/clock"}},
                      .where = where}),
            0};
  }();
  const auto make = [&](std::string_view op, std::vector<output> inputs, attributes attrs = {}) {
    return build(g, {.op = op,
                     .base_name = o.name + "/" + std::string(op),
                     .inputs = std::move(inputs),
                     .attrs = std::move(attrs),
                     .where = where});
  };
  const operation anchor = no_op(o.name + "/worker", where);
  const auto replica = [&] {
    const colocate_with near(anchor);
    return variable(std::int64_t{0}, {.name = o.name + "/replica", .trainable = false, .local = true}, where);
  }();
  const output self = replica.read(where).endpoint(g);
  replica_entry& entry = made->entry = make_entry(o.name, anchor, where);
  entry.got = {g, {make(op::clock_enter::name, {clock, entry.wanted.endpoint(g), entry.task.endpoint(g)}), 0}};
  entry.news = {g,
                {make(op::clock_expire::name, {clock, self},
                      {{"patience_ms", static_cast<std::int64_t>(o.worker_timeout.count())}}),
                 0}};
  made->enter = assign(replica, entry.got, where);
  made->leave = {g, make(op::clock_leave::name, {clock, self})};
  const node_id counts = make(op::clock_counts::name, {clock});
  made->counts = {{g, {counts, 0}}, {g, {counts, 1}}};
  const control_dependencies after{applied};
  made->ahead = {g, {make(op::clock_tick::name, {clock, self}, {{"bound", o.staleness}}), 0}};
  return made;
}

}}}}  // namespace pinion::v0::train::detail
