// Bodies of <pinion/distributed/master/master.hpp>.
#pragma once

#include <algorithm>

#include <pinion/distributed/master/master.hpp>
#include <pinion/rpc/security/security.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL master::~master() {
  stop(error(errc::unavailable, "the server was stopped"), time_point::max());
}

PINION_DECL std::shared_ptr<master_session> master::open(session_settings settings, std::uint64_t client,
                                                         std::string address) {
  std::lock_guard hold(mutex_);
  expect_running();
  if (client != 0) expect_room(client);
  std::uint64_t handle = 0;
  while (handle == 0 || sessions_.count(handle)) handle = rpc::random_number();
  session_owner owner{client, std::move(address), ++opened_};
  auto s = std::make_shared<master_session>(services_, handle, std::move(owner), std::move(settings));
  sessions_.emplace(handle, s);
  return s;
}

PINION_DECL void master::expect_room(std::uint64_t client) const {
  const server_limits& most = services_.limits;
  const auto count = [this](const auto& which) {
    return std::count_if(sessions_.begin(), sessions_.end(), [&](const auto& s) { return which(s.second->client()); });
  };
  if (count([&](std::uint64_t c) { return c == client; }) >= most.sessions)
    throw error(errc::resource_exhausted, "a client has at most " + std::to_string(most.sessions) + " sessions in " +
                                              services_.name + " (server_config.limits.sessions)");
  if (count([](std::uint64_t c) { return c != 0; }) >= most.sessions_of_all)
    throw error(errc::resource_exhausted, services_.name + " has at most " + std::to_string(most.sessions_of_all) +
                                              " sessions of all clients (server_config.limits.sessions_of_all)");
}

PINION_DECL std::shared_ptr<master_session> master::find_or_null(std::uint64_t handle) const {
  std::lock_guard hold(mutex_);
  const auto at = sessions_.find(handle);
  return at == sessions_.end() ? nullptr : at->second;
}

PINION_DECL std::shared_ptr<master_session> master::find(std::uint64_t handle) const {
  if (auto found = find_or_null(handle)) return found;
  throw unknown();
}

PINION_DECL std::shared_ptr<master_session> master::find(std::uint64_t handle, std::uint64_t client) const {
  auto found = find(handle);
  if (found->client() != client) throw unknown();
  return found;
}

PINION_DECL void master::cancel_steps(std::uint64_t handle, const error& why) {
  if (const auto s = find_or_null(handle)) s->cancel_steps(why);
}

PINION_DECL void master::end_partial_run(std::uint64_t handle, std::uint64_t run) {
  if (const auto s = find_or_null(handle)) s->runs().end_partial_run(run);
}

PINION_DECL std::map<std::uint64_t, std::shared_ptr<master_session>> master::open_now() const {
  std::lock_guard hold(mutex_);
  return sessions_;
}

PINION_DECL void master::say_long_runs() {
  const auto now = services_.net.now();
  for (const auto& [handle, s] : open_now())
    s->runs().say_long([&, client = std::to_string(s->client())](const std::string& line) {
      long_runs_.add(client, line, line, now);
    });
  long_runs_.tell_rest(now);
}

PINION_DECL std::vector<session_report> master::sessions() const {
  std::vector<session_report> all;
  for (const auto& [handle, s] : open_now()) all.push_back(s->report());
  std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.number < y.number; });
  return all;
}

PINION_DECL std::shared_ptr<master_session> master::close(std::uint64_t handle, const error& why) {
  std::shared_ptr<master_session> s;
  {
    std::lock_guard hold(mutex_);
    const auto at = sessions_.find(handle);
    if (at == sessions_.end()) return nullptr;
    s = std::move(at->second);
    sessions_.erase(at);
  }
  s->close(why);
  return s;
}

PINION_DECL void master::close_all(const error& why) {
  std::map<std::uint64_t, std::shared_ptr<master_session>> all;
  {
    std::lock_guard hold(mutex_);
    all.swap(sessions_);
  }
  for (const auto& [handle, s] : all) s->close(why);
}

PINION_DECL bool master::stop(const error& why, time_point until) {
  drain();
  close_all(why);
  services_.watched->close();
  return services_.in_use->wait_until_none(until);
}

PINION_DECL void master::reset(const std::vector<std::string>& containers) {
  const users::one using_server(services_.in_use);
  expect_running();
  close_all(error(errc::aborted, "the session was closed: the state of its cluster was reset"));
  services_.here.reset(containers);
  for (const auto& task : services_.peers.names()) {
    if (task == services_.name) continue;
    const auto route = services_.peers.route_to(task);
    const wait_options how{
        .what = {}, .until = services_.net.now() + std::chrono::seconds(10), .check = [this] { expect_running(); }};
    connect_and_wait(services_.net, route, how);
    ask_and_wait<nothing>(services_.net, route, reset_containers{containers}, how);
  }
}

PINION_DECL std::size_t master::runs() const {
  std::size_t n = 0;
  std::lock_guard hold(mutex_);
  for (const auto& [handle, s] : sessions_) n += s->runs().running();
  return n;
}

PINION_DECL void master::expect_running() const {
  if (*services_.stopping) throw rpc::is_stopping(services_.name);
}

PINION_DECL error master::unknown() const {
  return error(errc::aborted,
               services_.name + " does not know this session: it was restarted, or the session was closed");
}

}}}  // namespace pinion::v0::distributed
