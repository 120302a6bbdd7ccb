// The requests and notices of clients to the master of a task: sessions, their graphs and their steps.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/master/master.hpp>
#include <pinion/distributed/server/request_reader.hpp>
#include <pinion/distributed/server/spare_memory.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Hands them to the master, and knows the sessions of each client, which are closed when it has gone. Owned by a
// server, and used in the network's thread.
class master_service {
 public:
  // Graphs that are let go are freed by the builders.
  master_service(const std::shared_ptr<master>& here, request_reader& reader, builders& in, spare_memory& freed)
      : master_(here), reader_(reader), builders_(in), spare_(freed) {}

  // Nothing: the message is not for this service.
  std::optional<opened> request(const delivery& d);
  std::optional<opened> notice(const delivery& d);
  // Closes the sessions of a client that has gone.
  void gone(std::uint64_t client, const error& why);
  // The number of sessions that a client has.
  std::size_t sessions_of(std::uint64_t client) const;

 private:
  opened open(const delivery& d);
  opened extend(const delivery& d);
  opened extend_by_known(const delivery& d);
  opened prepare(const delivery& d);
  opened plan(const delivery& d);
  opened list_devices(const delivery& d);
  opened reset(const delivery& d);
  opened run(const delivery& d);
  opened begin_partial_run(const delivery& d);
  opened continue_partial_run(const delivery& d);

  opened cancel_steps(const delivery& d);
  opened close(const delivery& d);
  opened end_partial_run(const delivery& d);

  // A run of a client: its request, without feeds, and what keeps it counted.
  struct client_run {
    std::shared_ptr<master_session> session;
    std::uint64_t step = 0, client = 0, max_wait_ms = 0;
    std::vector<any_tensor> feeds = {};
    bool trace = false;
    answer_ref answer;
    quotas::share counted = nullptr, held = nullptr;  // its share of the client's runs, and of its bytes
  };
  // These two look a run up before memory is taken for its feeds; a long one is read in the order of its client.
  opened run_short(const delivery& d);
  opened run_long(const delivery& d);
  // Runs a prepared step, which is prepared again before that, in a thread of its own, where it has become stale.
  void begin_run(client_run&& r);
  static void run_fresh(client_run&& r, deadline until);

  bool is_of(const rpc::peer_ref& who, std::uint64_t session) const;
  void let_go(std::shared_ptr<master_session> closed);
  deadline until(std::uint64_t ms) const;

  const std::shared_ptr<master> master_;
  request_reader& reader_;
  builders& builders_;
  spare_memory& spare_;
  std::map<std::uint64_t, std::set<std::uint64_t>> sessions_of_;  // by client
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/master_service.ipp>
#endif
