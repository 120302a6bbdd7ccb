// Bodies of <pinion/distributed/wire/waiting.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/log.hpp>
#include <pinion/distributed/wire/waiting.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL deadline after(const rpc::network& net, const std::optional<rpc::duration>& time) {
  if (!time) return std::nullopt;
  return net.now() + *time;
}

PINION_DECL deadline after_both(const rpc::network& net, const call_limits& limits) {
  if (!limits.startup || !limits.operation) return std::nullopt;
  return net.now() + *limits.startup + *limits.operation;
}

PINION_DECL std::uint64_t to_ms(const std::optional<rpc::duration>& limit) {
  if (!limit) return 0;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(*limit).count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(ms, 1));
}

PINION_DECL std::optional<rpc::duration> from_ms(std::uint64_t ms) {
  if (ms == 0) return std::nullopt;
  return std::chrono::milliseconds(std::min<std::uint64_t>(ms, 1'000'000'000));
}

PINION_DECL long_wait::long_wait(rpc::network& net, const wait_options& how) : net_(net), how_(how) {}

PINION_DECL void long_wait::look() {
  how_.check();
  const auto now = net_.now();
  if (how_.until && now > *how_.until)
    throw error(errc::deadline_exceeded,
                "waited " + for_whom() + (how_.limit.empty() ? "" : ", longer than " + how_.limit));
  if (now < next_word_) return;
  write_log(log_level::info, "", "has waited " + for_whom());
  next_word_ += std::chrono::seconds(10);
}

PINION_DECL std::string long_wait::for_whom() const {
  return rpc::seconds(net_.now() - began_) + (how_.what ? " for " + how_.what() : "");
}

PINION_DECL std::string title_and_view(const rpc::channel& route) {
  return route.title() + " (" + to_string(route.view()) + ")";
}

PINION_DECL void connect_and_wait(rpc::network& net, const std::shared_ptr<rpc::channel>& route, wait_options how) {
  if (route->up()) return;
  how.what = [route] { return title_and_view(*route); };
  how.silent = std::chrono::seconds(1);
  const auto limit = how.until;
  if (how.until) *how.until += std::chrono::milliseconds(500);  // the channel's own error says more
  try {
    wait_for<void>(net, how, [&](auto done) { route->connect(limit, done); });
  } catch (const error& e) {
    if (e.code() != errc::deadline_exceeded || how.limit.empty() || e.sentence().ends_with(how.limit)) throw;
    throw error(e.code(), std::string(e.sentence()) + "; that is " + how.limit);
  }
}

PINION_DECL void reach(rpc::network& net, const std::shared_ptr<rpc::channel>& route, rpc::duration soon,
                       std::string_view task, wait_options how) {
  try {
    how.until = net.now() + soon;
    connect_and_wait(net, route, std::move(how));
  } catch (const error& e) {
    if (e.code() != errc::deadline_exceeded) throw;
    throw error(errc::unavailable, e.sentence()).in_task(task);
  }
}

}}}  // namespace pinion::v0::distributed
