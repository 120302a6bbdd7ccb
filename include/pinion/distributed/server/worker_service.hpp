// The requests and notices of masters and other workers to a task: its part of their steps, and values.
#pragma once

#include <memory>
#include <optional>

#include <pinion/base/config.hpp>
#include <pinion/distributed/server/request_reader.hpp>
#include <pinion/distributed/worker/worker.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Hands them to the worker and the exchange. Owned by a server, and used in the network's thread.
class worker_service {
 public:
  worker_service(worker& here, exchange& values, request_reader& reader)
      : worker_(here), exchange_(values), reader_(reader) {}

  // Nothing: the message is not for this service.
  std::optional<opened> request(const delivery& d);
  std::optional<opened> notice(const delivery& d);

 private:
  opened register_step(const delivery& d);
  opened register_known(const delivery& d);
  opened run(const delivery& d);
  opened progress(const delivery& d);
  opened reset(const delivery& d);
  opened pull(const delivery& d);

  opened push(const delivery& d);
  opened announce(const delivery& d);
  opened return_credit(const delivery& d);
  opened cancel(const delivery& d);
  opened settle_run(const delivery& d);
  opened forget(const delivery& d);

  worker& worker_;
  exchange& exchange_;
  request_reader& reader_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/server/worker_service.ipp>
#endif
