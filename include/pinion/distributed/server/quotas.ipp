// Bodies of <pinion/distributed/server/quotas.hpp>.
#pragma once

#include <pinion/distributed/server/quotas.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL std::shared_ptr<quotas::quota> quotas::of(std::uint64_t client) {
  auto& found = each_[client];
  if (!found) found = std::make_shared<quota>();
  return found;
}

PINION_DECL error quotas::too_much(const std::string& what, const std::string& limit) const {
  return error(errc::resource_exhausted,
               "more than " + what + " wait in " + task_ + " (server_config.limits." + limit + ")");
}

PINION_DECL quotas::share quotas::of_message(std::uint64_t client, std::uint64_t bytes) {
  constexpr std::uint64_t of_any = 1024;  // of a message, however short
  const auto one = of(client);
  const std::uint64_t size = bytes + of_any;
  const auto fits = [size](const quota& in, std::uint64_t most) {
    const std::uint64_t held = in.bytes.load(std::memory_order_relaxed);
    return held == 0 || held + size <= most;  // one message may be larger
  };
  if (!fits(*one, limits_.bytes_received))
    throw too_much(std::to_string(limits_.bytes_received) + " bytes of one client", "bytes_received");
  if (!fits(*all_, limits_.bytes_received_of_all))
    throw too_much(std::to_string(limits_.bytes_received_of_all) + " bytes of all clients", "bytes_received_of_all");
  for (quota* in : {one.get(), all_.get()}) in->bytes.fetch_add(size, std::memory_order_relaxed);
  return share(nullptr, [one, all = all_, size](void*) {
    for (quota* in : {one.get(), all.get()}) in->bytes.fetch_sub(size, std::memory_order_relaxed);
  });
}

PINION_DECL quotas::share quotas::of_unread(std::uint64_t client, std::uint64_t control, std::uint64_t payload) {
  if (payload > limits_.session_bytes)
    throw error(errc::resource_exhausted,
                "a message of " + std::to_string(payload) + " bytes, where a session takes at most " +
                    std::to_string(limits_.session_bytes) + " in " + task_ + " (server_config.limits.session_bytes)");
  return of_message(client, control + payload);
}

PINION_DECL quotas::taken quotas::by(std::uint64_t client) const {
  const auto found = each_.find(client);
  if (found == each_.end()) return {};
  return {found->second->bytes.load(std::memory_order_relaxed), found->second->runs.load(std::memory_order_relaxed)};
}

PINION_DECL std::uint64_t quotas::bytes() const {
  return all_->bytes.load(std::memory_order_relaxed);
}

PINION_DECL quotas::share quotas::of_run(std::uint64_t client) {
  const auto one = of(client);
  if (one->runs.load(std::memory_order_relaxed) >= limits_.runs)
    throw too_much(std::to_string(limits_.runs) + " runs of one client", "runs");
  return counted(one);
}

PINION_DECL quotas::share quotas::of_run_of_task(std::uint64_t channel) {
  return counted(of(channel));
}

PINION_DECL quotas::share quotas::counted(const std::shared_ptr<quota>& one) const {
  if (all_->runs.load(std::memory_order_relaxed) >= limits_.runs_of_all)
    throw too_much(std::to_string(limits_.runs_of_all) + " runs of all clients", "runs_of_all");
  for (quota* in : {one.get(), all_.get()}) in->runs.fetch_add(1, std::memory_order_relaxed);
  return share(nullptr, [one, all = all_](void*) {
    for (quota* in : {one.get(), all.get()}) in->runs.fetch_sub(1, std::memory_order_relaxed);
  });
}

}}}  // namespace pinion::v0::distributed
