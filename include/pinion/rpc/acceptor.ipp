// Bodies of <pinion/rpc/acceptor.hpp>.
#pragma once

#include <algorithm>
#include <array>
#include <set>

#include <pinion/rpc/acceptor.hpp>
#include <pinion/rpc/channel.hpp>
#include <pinion/rpc/tls_stream.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL void acceptor::start() {
  net_.post([self = shared_from_this()] {
    self->net_.spawn(self->accept(self, *self->listener_));
    if (self->on_host_) self->net_.spawn(self->accept(self, *self->on_host_));
    self->net_.spawn(self->sweep(self));
  });
}

PINION_DECL void acceptor::stop(const error& why, std::function<void()> stopped) {
  net_.post([self = shared_from_this(), why, stopped = std::move(stopped)] {
    self->stop_here(why);
    if (stopped) stopped();
  });
}

PINION_DECL void acceptor::expect(deliveries& all) const {
  for (const auto& [channel, one] : clients_)
    for (const auto& lane : one.lanes) all.expect(lane);
}

PINION_DECL bool acceptor::serves(const std::string& name) const {
  return std::any_of(clients_.begin(), clients_.end(), [&](const auto& c) { return c.second.who->name == name; });
}

PINION_DECL awaitable<void> acceptor::accept(std::shared_ptr<acceptor> self, listener& from) {
  while (!stopped_) {
    std::unique_ptr<byte_stream> stream;
    outcome<> accepted;
    try {
      stream = co_await from.accept();
      net_.spawn(receive(self, std::move(stream)));
    } catch (...) {
      accepted = current_error();
    }
    if (accepted) continue;
    if (accepted.failure()->code() == errc::cancelled) co_return;  // closed
    static_cast<void>(outcome_of([&] { refusals_.add("a client", *accepted.failure(), net_.now()); }));
    end_oldest_visit();  // e.g. out of descriptors: others may be freed meanwhile
    try {
      co_await pause();
    } catch (...) {  // for want of memory
    }
  }
}

PINION_DECL awaitable<void> acceptor::pause() {
  const auto timer = net_.make_timer();
  co_await timer->wait_until(net_.now() + std::chrono::milliseconds(100));
}

namespace detail {

// Ends a connection that was refused. It is not closed at once, since unread bytes in it would destroy the refusal on
// its way to the client.
inline awaitable<void> see_off(byte_stream& stream) {
  constexpr std::size_t most = std::size_t{1} << 16;
  stream.finish();
  std::array<std::byte, 1024> nowhere{};
  try {
    for (std::size_t left = most; left > 0;) {
      const std::size_t n = co_await stream.read_some(std::span(nowhere).first(std::min(left, nowhere.size())));
      if (n == 0) break;
      left -= n;
    }
  } catch (...) {  // it is over all the same
  }
}

}  // namespace detail

PINION_DECL awaitable<void> acceptor::receive([[maybe_unused]] std::shared_ptr<acceptor> self,
                                              std::unique_ptr<byte_stream> stream) {
  visit mine{.stream = stream.get()};
  const std::string peer = mine.stream->peer();
  hello theirs;
  outcome<> met;
  {
    if (visits_.size() >= options_.handshakes) end_oldest_visit();
    const visiting here{visits_, ++last_visit_};
    visits_.emplace(here.number, &mine);
    fuse limited(net_, *mine.stream, net_.now() + options_.handshake);
    try {
      theirs = co_await meet(stream, mine);
    } catch (...) {  // the client has been told
      met = current_error();
    }
    if (!met) {
      mine.channel = 0;  // it takes no place
      note(peer, why_ended(mine, limited, *met.failure()));
      co_await detail::see_off(*mine.stream);
    }
  }
  if (!met || stopped_ || mine.crowded_out) co_return;
  const auto admitted = outcome_of([&] { admit(theirs, std::move(stream)); });
  if (admitted) co_return;
  note(peer, *admitted.failure());
  drop(theirs.channel, *admitted.failure());
}

PINION_DECL error acceptor::why_ended(const visit& v, const fuse& limited, const error& why) const {
  if (v.crowded_out)
    return error(errc::resource_exhausted, "its handshake was the oldest of " + std::to_string(options_.handshakes) +
                                               " under way, and another client came");
  if (limited.burnt()) return error(errc::deadline_exceeded, "its handshake took too long");
  return why;
}

PINION_DECL void acceptor::end_oldest_visit() {
  if (visits_.empty()) return;
  visit& oldest = *visits_.begin()->second;
  visits_.erase(visits_.begin());
  oldest.crowded_out = true;
  oldest.stream->close();
}

PINION_DECL awaitable<hello> acceptor::meet(std::unique_ptr<byte_stream>& stream, visit& its) {
  if (const auto& files = options_.me.shows.tls) {
    auto sealed = std::make_unique<tls_stream>(net_, std::move(stream), files, side::server);
    tls_stream& both = *sealed;
    stream = std::move(sealed);
    co_await both.shake_hands(options_.me.name);
  }
  its.host = host_of_address(stream->peer());
  const std::function<void(const hello&)> admits = [this, &its, &at = *stream](const hello& theirs) {
    expect_data_lane(theirs, at);
    find_room(theirs, its);
  };
  co_return co_await receive_hello(*stream, me_, admits);
}

PINION_DECL void acceptor::expect_data_lane(const hello& theirs, byte_stream& stream) {
  if (theirs.lane == lane::control && stream.memory())
    throw error(errc::failed_precondition,
                "a client shares memory on its data lane alone, and this is its control lane");
}

PINION_DECL void acceptor::find_room(const hello& theirs, visit& its) const {
  std::set<std::uint64_t> coming, coming_from_there;  // who will be clients; a client has two connections
  for (const auto& [number, v] : visits_) {
    if (v->channel == 0 || clients_.contains(v->channel)) continue;
    coming.insert(v->channel);
    if (v->host == its.host) coming_from_there.insert(v->channel);
  }
  if (!clients_.contains(theirs.channel) && !coming.contains(theirs.channel)) {
    const auto at = clients_at_.find(its.host);
    const std::size_t all = clients_.size() + coming.size(),
                      there = (at == clients_at_.end() ? 0 : at->second) + coming_from_there.size();
    const bool full = all >= options_.clients;
    if (full || there >= (options_.clients + 1) / 2)
      throw error(errc::resource_exhausted, options_.me.name + " has " + std::to_string(full ? all : there) +
                                                " clients" + (full ? "" : " from " + its.host) +
                                                ", and takes no more (server_config.limits.clients)");
  }
  its.channel = theirs.channel;
}

PINION_DECL void acceptor::note(const std::string& peer, const error& why) noexcept {
  if (why.code() == errc::unavailable || why.code() == errc::cancelled) return;
  static_cast<void>(outcome_of([&] { refusals_.add(peer, why, net_.now()); }));
}

PINION_DECL void acceptor::admit(const hello& theirs, std::unique_ptr<byte_stream> stream) {
  auto at = clients_.find(theirs.channel);
  if (at == clients_.end()) {
    const auto who = std::make_shared<const peer>(
        peer{theirs.channel, theirs.from, theirs.incarnation, stream->peer(), theirs.address, theirs.spec});
    at = clients_.emplace(theirs.channel, client{.who = who, .lanes = {}, .heartbeat = theirs.heartbeat()}).first;
    ++clients_at_[std::string(host_of_address(who->address))];
    if (service_.came) service_.came(who);
  }
  client& c = at->second;
  auto& lane = c.lanes[theirs.lane == lane::control ? 1 : 0];
  const bool same = c.who->name == theirs.from && c.who->incarnation == theirs.incarnation;
  if (lane || !same) return;  // the lane exists, or belongs to another peer that guessed a number
  const auto closed = [self = shared_from_this(), id = theirs.channel, peer = stream->peer()](const error& why) {
    if (self->clients_.count(id) > 0) self->note(peer, why);  // once for both lanes
    self->drop(id, why);
  };
  const auto made = std::make_shared<connection>(
      net_, std::move(stream), options_.traffic, options_.allowed,
      backlog_limit{.most = options_.bytes_waiting, .max_wait = options_.max_wait, .all = waiting_});
  lane = made;
  const bool is_sooner = sweeper_ && net_.now() + 2 * c.heartbeat < wake_;
  const peer_ref who = c.who;
  // It may end at once, and take the client with it.
  made->start(
      {.request = [this, who](const envelope& e, responder answer) { return request(e, std::move(answer), who); },
       .notice = [this, who](const envelope& e) { return service_.notice(e, who); },
       .closed = closed,
       .hold = [this, who](std::uint64_t bytes) { return hold(bytes, who); }});
  if (is_sooner && !stopped_) sweeper_->cancel();
}

PINION_DECL std::unique_ptr<incoming> acceptor::request(const envelope& e, responder answer, const peer_ref& who) {
  if (e.method != ping_method) return service_.request(e, std::move(answer), who);
  answer.reply(message());
  return nullptr;
}

PINION_DECL std::shared_ptr<void> acceptor::hold(std::uint64_t bytes, const peer_ref& who) {
  return service_.hold ? service_.hold(bytes, who) : nullptr;
}

PINION_DECL void acceptor::drop(std::uint64_t id, const error& why) {
  const auto at = clients_.find(id);
  if (at == clients_.end()) return;
  const client gone = std::move(at->second);
  clients_.erase(at);
  const auto others = clients_at_.find(host_of_address(gone.who->address));
  if (others != clients_at_.end() && --others->second == 0) clients_at_.erase(others);
  // A client that is thrown out hears the reason on whichever lane it listens to first.
  const bool tell = why.code() != errc::unavailable;
  for (const auto& lane : gone.lanes)
    if (lane) tell ? lane->leave(why) : lane->abandon(why);
  if (service_.gone) service_.gone(gone.who, why);
}

PINION_DECL awaitable<void> acceptor::sweep([[maybe_unused]] std::shared_ptr<acceptor> self) {
  sweeper_ = net_.make_timer();
  wake_ = net_.now();
  while (!stopped_) {
    static_cast<void>(outcome_of([this] { look_after_clients(); }));  // what failed is done by the next sweep
    wake_ = next_sweep();
    co_await sweeper_->wait_until(wake_);
  }
}

PINION_DECL void acceptor::look_after_clients() {
  if (const auto late = net_.now() - wake_; late > duration::zero()) forgive(late);
  refusals_.tell_rest(net_.now());
  drop_silent();
  look_after_lanes();
}

PINION_DECL time_point acceptor::client::heard() const {
  time_point last{};
  for (const auto& lane : lanes)
    if (lane) last = std::max(last, lane->in().last_heard());
  return last;
}

PINION_DECL peer_use acceptor::client::use(time_point now) const {
  peer_use all{.who = who, .silence = now - heard()};
  for (const auto& lane : lanes) {
    if (!lane) continue;
    const shared_use shared = lane->memory() ? lane->memory()->use() : shared_use{};
    ++all.connections;
    all.bytes_waiting += lane->out().bytes_waiting();
    all.shared.shown += shared.shown;
    all.shared.lent += shared.lent;
  }
  return all;
}

PINION_DECL std::vector<peer_use> acceptor::uses() const {
  const time_point now = net_.now();
  std::vector<peer_use> all;
  for (const auto& [id, c] : clients_) all.push_back(c.use(now));
  return all;
}

PINION_DECL time_point acceptor::next_sweep() const {
  time_point next = net_.now() + refusals::period / 2;
  for (const auto& [id, c] : clients_) next = std::min(next, c.heard() + 2 * c.heartbeat);
  return next;
}

PINION_DECL void acceptor::forgive(duration late) {
  for (const auto& [id, c] : clients_)
    for (const auto& lane : c.lanes)
      if (lane && late > c.heartbeat / 2) lane->in().forgive();
}

PINION_DECL void acceptor::drop_silent() {
  std::vector<std::uint64_t> silent;
  for (const auto& [id, c] : clients_)
    if (net_.now() - c.heard() >= 2 * c.heartbeat) silent.push_back(id);
  for (const auto id : silent) drop(id, error(errc::unavailable, "the client has been silent for two heartbeats"));
}

PINION_DECL void acceptor::look_after_lanes() {
  const bool much_waits = waiting_->bytes() > waiting_->most() / 2;
  for (const auto& [id, c] : clients_)
    for (const auto& lane : c.lanes) {
      if (!lane) continue;
      if (much_waits) lane->out().watch_backlog();
      if (lane->memory()) lane->memory()->trim();
    }
}

PINION_DECL void acceptor::stop_here(const error& why) {
  if (std::exchange(stopped_, true)) return;
  listener_->close();
  if (on_host_) on_host_->close();
  if (sweeper_) sweeper_->cancel();
  for (const auto& [number, v] : visits_) v->stream->close();
  for (auto& [id, c] : std::exchange(clients_, {})) {
    for (const auto& lane : {c.lanes[1], c.lanes[0]})  // control first, which has nothing to send before the goodbye
      if (lane) lane->leave(why);
    if (service_.gone) service_.gone(c.who, why);
  }
  service_ = {};
}

}}}  // namespace pinion::v0::rpc
