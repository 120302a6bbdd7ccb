// Bodies of <pinion/distributed/server/reporter.hpp>.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <pinion/base/descriptors.hpp>
#include <pinion/distributed/server/inventory.hpp>
#include <pinion/distributed/server/reporter.hpp>
#include <pinion/distributed/wire/report.hpp>
#include <pinion/rpc/message.hpp>
#include <pinion/runtime/task.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

namespace detail {

inline shared_memory_report shared_by(const rpc::slab_account& slabs) {
  const auto mapped = slabs.mapped();
  return {.connections = slabs.connections(),
          .slabs = mapped.slabs,
          .slab_bytes = mapped.bytes,
          .bytes_lent = slabs.lent()};
}

// Does a client take more bytes than another, those of address space alone not counted? Else their addresses decide.
inline bool takes_more(const client_report& a, const client_report& b) {
  const auto bytes = [](const client_report& c) { return c.bytes_received + c.bytes_waiting + c.bytes_lent; };
  return bytes(a) != bytes(b) ? bytes(a) > bytes(b) : a.address < b.address;
}

}  // namespace detail

PINION_DECL task_report reporter::report(told_by_network&& net) const {
  const thread_pool& pool = from_.task.pool;
  task_report all{.name = from_.me.name,
                  .address = from_.address,
                  .version = PINION_VERSION,
                  .state = from_.master.is_draining() ? "stopping" : "running",
                  .incarnation = from_.me.incarnation,
                  .process = ::getpid(),
                  .uptime = std::chrono::duration<double>(from_.net.now() - began_).count(),
                  .steps = from_.master.steps(),
                  .parts = from_.worker.parts(),
                  .sessions = from_.master.sessions(),
                  .runs = from_.worker.runs().report(from_.net.now()),
                  .peers = from_.peers.report(from_.me.name),
                  .clients = std::move(net.clients),
                  .failures = from_.worker.failures()->list(),
                  .pool = {pool.threads(), pool.spares(), pool.queued()},
                  .backlog = net.backlog,
                  .descriptors = {open_descriptors(), most_descriptors()},
                  .shared = detail::shared_by(from_.slabs),
                  .traffic = counts_of(from_.traffic),
                  .limits = from_.limits};
  all.backlog.values_offered = from_.values.count().offered;
  all.backlog.values_early = from_.values.count().early;
  all.backlog.graphs_kept = from_.worker.graphs().count();
  all.backlog.parts_unsettled = from_.worker.unsettled();
  all.backlog.tasks_sought = from_.peers.sought();
  take_inventory(from_.task, all);
  std::sort(all.clients.begin(), all.clients.end(), detail::takes_more);
  shorten(all);
  return all;
}

PINION_DECL void shorten(task_report& r) {
  const auto cut = [](auto& rows) {
    std::size_t bytes = 0, fit = 0;
    while (fit < rows.size() && fit < task_report::most_rows) {
      bytes += rpc::encode(rows[fit]).control.size();
      if (bytes > most_bytes_of_list) break;
      ++fit;
    }
    rows.resize(fit);
  };
  cut(r.devices);
  cut(r.variables);
  cut(r.queues);
  cut(r.sessions);
  cut(r.runs);
  cut(r.peers);
  cut(r.clients);
  cut(r.failures);
}

PINION_DECL traffic_counts counts_of(const rpc::traffic& all) {
  return {all.bytes_sent, all.bytes_received, all.messages_sent, all.messages_received, all.requests, all.writes};
}

}}}  // namespace pinion::v0::distributed
