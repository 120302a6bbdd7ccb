// The limits of a server, each with its name.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/spec/server_limits.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Calls each(name, value) for each limit, in the order in which they go over the wire.
template <class Limits, class Each>
void for_each_limit(Limits& of, const Each& each) {
  each("sessions", of.sessions);
  each("bytes_waiting", of.bytes_waiting);
  each("nodes", of.nodes);
  each("threads", of.threads);
  each("sessions_of_all", of.sessions_of_all);
  each("steps", of.steps);
  each("runs", of.runs);
  each("session_bytes", of.session_bytes);
  each("bytes_received", of.bytes_received);
  each("early_values", of.early_values);
  each("runs_of_all", of.runs_of_all);
  each("session_bytes_of_all", of.session_bytes_of_all);
  each("bytes_received_of_all", of.bytes_received_of_all);
  each("clients", of.clients);
  each("early_bytes", of.early_bytes);
  each("bytes_offered", of.bytes_offered);
  each("bytes_waiting_of_all", of.bytes_waiting_of_all);
  each("kept_graphs", of.kept_graphs);
  each("kept_graph_bytes", of.kept_graph_bytes);
  each("slabs", of.slabs);
  each("slab_bytes", of.slab_bytes);
  each("slabs_of_all", of.slabs_of_all);
  each("slab_bytes_of_all", of.slab_bytes_of_all);
  each("bytes_lent_of_all", of.bytes_lent_of_all);
}

}}}  // namespace pinion::v0::distributed
