// The limits that a server sets its clients.
#pragma once

#include <cstdint>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// The most that clients may ask of one server. What exceeds a limit is refused with resource_exhausted, and the error
// names the limit; the client, the others and the server go on. Sessions of the server's own process count nowhere. A
// client is a session of another process, or another task, with all of its connections. A plain value.
//
// Memory is estimated from what is sent: graphs take tens of times the memory of their bytes on the wire.
//
//   pn::server server(cluster, {.config = {.limits = {.sessions = 8, .nodes = 10'000}}});
struct server_limits {
  int sessions = 64;  // open sessions of one client
  // Bytes of answers that wait for one client to take them. Beyond it the server reads no further request of that
  // client, and closes it if it takes none of them for ten seconds. A single answer may be larger. An answer that was
  // asked for before is refused if 1 GiB more waits, or if the client has taken nothing for a quarter of that time.
  std::uint64_t bytes_waiting = std::uint64_t{64} << 20;
  std::int64_t nodes = std::int64_t{1} << 20;             // nodes in the graph of one session
  int threads = 64;                                       // threads in which calls of clients wait for other tasks
  int sessions_of_all = 1024;                             // open sessions of all clients
  int steps = 4096;                                       // prepared steps of one session
  int runs = 4096;                                        // steps of one client that run or wait to be begun
  std::uint64_t session_bytes = std::uint64_t{8} << 30;   // memory of the graph and the steps of one session
  std::uint64_t bytes_received = std::uint64_t{4} << 30;  // bytes of one client's requests that are not worked off
  // Values of one task for runs that have not begun. A run of which more would wait fails when it begins.
  int early_values = 4096;
  int runs_of_all = 65536;                                        // steps of all clients that run or wait
  std::uint64_t session_bytes_of_all = std::uint64_t{32} << 30;   // memory of the graphs and the steps of all sessions
  std::uint64_t bytes_received_of_all = std::uint64_t{16} << 30;  // bytes of all clients' requests
  int clients = 4096;  // clients at a time, and half of them from one address; no more than there are descriptors for
  // Bytes of values of all tasks for runs that have not begun, a quarter of them of one task.
  std::uint64_t early_bytes = std::uint64_t{1} << 30;
  // Bytes of values that wait until one task asks for them. The run of a value too much fails.
  std::uint64_t bytes_offered = std::uint64_t{8} << 30;
  // Bytes of answers that wait for all clients. Each may have an equal share of it, or bytes_waiting if that is less;
  // where more waits for all, an answer beyond its client's share is refused.
  std::uint64_t bytes_waiting_of_all = std::uint64_t{16} << 30;
  // Graphs that stay, also when their sessions have gone, for those who send them again, and their memory. Beyond it
  // none is refused: the one that was not used for longest goes, of the sender who has most. 0: none stays.
  int kept_graphs = 256;
  std::uint64_t kept_graph_bytes = std::uint64_t{256} << 20;
  // Slabs of memory that one client of this host may show, in which it lends its values, and their bytes of address
  // space; and those of all such clients. A client is told what it may when it connects, and sends by copies beyond.
  std::uint64_t slabs = 512, slab_bytes = std::uint64_t{256} << 30;
  std::uint64_t slabs_of_all = 16384, slab_bytes_of_all = std::uint64_t{16} << 40;
  // Bytes of values that all clients and tasks of this host are lent in memory that they share. Each has no more than
  // an eighth of what others leave of it; a value beyond that is sent by copies.
  std::uint64_t bytes_lent_of_all = std::uint64_t{8} << 30;
};

}}  // namespace pinion::v0
