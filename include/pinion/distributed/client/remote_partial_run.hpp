// A partial run at a master, seen from its client.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/distributed/client/session_port.hpp>
#include <pinion/runtime/partial_run_backend.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Values that are fed wait here for the call that brings them to the master. It may outlive its session, whose port it
// then finds gone. Thread-safe.
class remote_partial_run final : public runtime::partial_run_backend {
 public:
  // `fetched` are the types of the step's fetches, `calls` those of the session, and `limit` is that of a call.
  remote_partial_run(std::shared_ptr<rpc::network> net, const std::shared_ptr<session_port>& port, std::uint64_t number,
                     std::vector<output_type> fetched, std::shared_ptr<users> calls, std::optional<rpc::duration> limit)
      : net_(std::move(net)),
        port_(port),
        number_(number),
        fetched_(std::move(fetched)),
        calls_(std::move(calls)),
        limit_(limit) {}

  void feed(std::size_t number, any_tensor value) override;
  std::vector<any_tensor> await(std::span<const std::size_t> fetches, std::span<const std::size_t> targets) override;
  void expect_well() const override;
  void fail(const error& why) override;

 private:
  partial_call next_call(std::span<const std::size_t> fetches, std::span<const std::size_t> targets);
  std::vector<output_type> types_of(std::span<const std::size_t> fetches) const;

  const std::shared_ptr<rpc::network> net_;
  const std::weak_ptr<session_port> port_;
  const std::uint64_t number_;
  const std::vector<output_type> fetched_;
  const std::shared_ptr<users> calls_;
  const std::optional<rpc::duration> limit_;

  mutable std::mutex mutex_;
  partial_call fed_;      // what the next call feeds
  shared_error failure_;  // that the master has told, or with which the run was given up
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/client/remote_partial_run.ipp>
#endif
