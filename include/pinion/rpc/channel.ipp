// Bodies of <pinion/rpc/channel.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/insist.hpp>
#include <pinion/rpc/channel.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

namespace detail {

// Is another attempt useless after this error?
inline bool is_final(const error& e) {
  return e.code() != errc::unavailable && e.code() != errc::deadline_exceeded;
}

// The pause before the next attempt, after so long a wait.
inline duration pause_after(network& net, duration waited) {
  const auto longest = std::clamp<duration>(waited / 8, std::chrono::milliseconds(10), std::chrono::seconds(1));
  return longest / 2 +
         duration(static_cast<duration::rep>(net.draw() % static_cast<std::uint64_t>(longest.count() / 2)));
}

// The reason to give a peer up, or one of its lanes, after such silences; nothing: it lives.
inline std::optional<error> given_up(const channel& peer, duration heartbeat, duration data, duration control) {
  const auto both = std::min(data, control), one = std::max(data, control);
  if (one < 2 * heartbeat) return std::nullopt;
  const std::string silent = " has not answered", time = " for " + seconds(one);
  const char* const dead = data > control ? "data" : "control";
  const char* const alive = data > control ? "control" : "data";
  if (both >= heartbeat * 9 / 8)  // neither has answered the question of a heartbeat ago
    return error(errc::unavailable, peer.title() + silent + time + ": it is dead, stopped or cut off")
        .in_task(peer.peer());
  return error(errc::unavailable, peer.title() + silent + " on the " + dead + " lane" + time + ", but does on the " +
                                      alive + " lane: something between the tasks holds that connection up")
      .in_task(peer.peer());
}

}  // namespace detail

PINION_DECL std::string channel::peer() const {
  const std::string known = state_.peer();
  return known.empty() ? "the task" : known;
}

PINION_DECL void channel::connect(std::optional<time_point> until, completion<> done) {
  net_.post([self = shared_from_this(), until, done = std::move(done)]() mutable {
    const auto begun = outcome_of([&] { self->connect_here(until, done); });
    if (!begun) done(begun);
  });
}

PINION_DECL void channel::request(rpc::lane by, method m, message&& text, reply_handler handler) {
  if (const auto c = state_.connection_of(by))
    c->request(m, std::move(text), std::move(handler));
  else
    handler.failed(why_down());
}

PINION_DECL void channel::notify(rpc::lane by, method m, message&& text, urgency when) {
  if (const auto c = state_.connection_of(by)) c->notify(m, std::move(text), when);
}

PINION_DECL void channel::expect(deliveries& all) const {
  const lane_pair up = state_.lanes();
  all.expect(up.data);
  all.expect(up.control);
}

PINION_DECL std::uint64_t channel::observe(std::function<void(const error&)> down) {
  std::lock_guard hold(observing_);
  observers_.emplace(++last_observer_, std::move(down));
  return last_observer_;
}

PINION_DECL void channel::forget(std::uint64_t observer) {
  std::lock_guard hold(observing_);
  observers_.erase(observer);
}

PINION_DECL void channel::close(const error& why) {
  net_.post([self = shared_from_this(), why] {
    self->closed_ = true;
    self->go_down(why, task_state::joining);
    self->waiting_.end(why);
    if (self->pause_) self->pause_->cancel();
  });
}

PINION_DECL void channel::connect_here(std::optional<time_point> until, completion<> done) {
  if (up()) return done({});
  if (closed_) return done(error(errc::cancelled, "the route to " + title() + " is closed"));
  waiting_.add(net_.now(), until, std::move(done));
  if (limit_) limit_->cancel();  // this caller may have the earliest deadline
  const auto begin = [this](bool& runs, auto coroutine) {
    if (std::exchange(runs, true)) return;
    const auto begun = outcome_of([&] { net_.spawn((this->*coroutine)(shared_from_this())); });
    if (begun) return;
    runs = false;
    waiting_.end(*begun.failure());
  };
  begin(connecting_, &channel::come_up);
  begin(expiring_, &channel::expire);
}

PINION_DECL awaitable<void> channel::come_up([[maybe_unused]] std::shared_ptr<channel> self) {
  outcome<> tried;
  try {
    co_await try_to_come_up();
  } catch (...) {
    tried = current_error();
  }
  connecting_ = false;
  if (!tried) waiting_.end(*tried.failure());
  if (limit_) limit_->cancel();
  if (up()) waiting_.end({});
}

PINION_DECL awaitable<void> channel::try_to_come_up() {
  pause_ = net_.make_timer();
  state_.begin_attempts();
  const std::string task = state_.peer();
  const auto began = net_.now();
  int final_ones = 0;
  const std::function<time_point()> limit = [this] { return attempt_limit(); };
  while (!waiting_.empty() && !closed_ && !up()) {
    const peer_place where = state_.target();
    tried_ = where.address;
    outcome<> connected;
    try {
      came_up(co_await connector_.connect(where.address, task, limit));
    } catch (...) {
      connected = current_error();
    }
    if (connected) break;
    state_.note_failure(*connected.failure());
    const bool has_moved = address() != where.address;  // what answers at its former place says nothing about it
    const bool elsewhere = state_.switch_to_other();
    const bool counts = detail::is_final(*connected.failure()) && !has_moved && !(where.is_told && elsewhere);
    if (counts && (!elsewhere || ++final_ones > 1)) waiting_.end(*connected.failure());
    fail_late();
    if (waiting_.empty() || closed_) break;
    co_await pause_->wait_until(net_.now() + detail::pause_after(net_, net_.now() - began));
  }
}

PINION_DECL awaitable<void> channel::expire([[maybe_unused]] std::shared_ptr<channel> self) {
  outcome<> watched;
  try {
    limit_ = net_.make_timer();
    while (connecting_) {
      fail_late();
      co_await limit_->wait_until(waiting_.first_deadline());
    }
  } catch (...) {
    watched = current_error();
  }
  expiring_ = false;
  if (!watched) waiting_.end(*watched.failure());
}

PINION_DECL time_point channel::attempt_limit() const {
  const auto limit = std::min(net_.now() + options_.reconnect, waiting_.first_deadline());
  return state_.has_other() ? net_.now() + (limit - net_.now()) / 2 : limit;  // the other place is to be tried too
}

PINION_DECL void channel::came_up(reached_lanes lanes) {
  if (closed_) return;
  const auto epoch = ++epoch_;
  const pulses watched{std::make_shared<pulse>(lanes.data.connection),
                       std::make_shared<pulse>(lanes.control.connection)};
  std::string peer = lanes.data.peer.name;  // before anything has begun, since it takes memory
  begin(*lanes.data.connection, *lanes.control.connection, epoch);
  state_.came_up({std::move(lanes.data.connection), std::move(lanes.control.connection)}, std::move(peer),
                 lanes.data.peer.incarnation);
  net_.spawn(watch(shared_from_this(), epoch, watched));
}

PINION_DECL void channel::begin(connection& data, connection& control, std::uint64_t epoch) {
  data.start(handlers_of(epoch));
  control.start(handlers_of(epoch));
  auto ended = data.why_closed();
  if (!ended) ended = control.why_closed();
  if (!ended) return;
  data.abandon(*ended);
  control.abandon(*ended);
  throw lost(*ended);
}

PINION_DECL connection_handlers channel::handlers_of(std::uint64_t epoch) {
  const auto refuse = []() -> std::unique_ptr<incoming> {
    throw error(errc::data_loss, "a server sent something that is no answer");
  };
  return {.request = [refuse](const envelope&, responder) { return refuse(); },
          .notice = [refuse](const envelope&) { return refuse(); },
          .closed =
              [self = weak_from_this(), epoch](const error& why) {
                if (const auto c = self.lock(); c && c->epoch_ == epoch) c->go_down(c->lost(why), state_after(why));
              },
          .explain = [self = shared_from_this()](const error& why) { return self->lost(why); }};
}

PINION_DECL void channel::fail_late() {
  waiting_.fail_late(net_.now(), [this] {
    return peer() + " at " + (tried_.empty() ? address() : tried_) + ": " + state_.last_failure();
  });
}

PINION_DECL awaitable<void> channel::watch([[maybe_unused]] std::shared_ptr<channel> self, std::uint64_t epoch,
                                           pulses lanes) {
  outcome<> watched;
  try {
    co_await watch_lanes(epoch, std::move(lanes));
  } catch (...) {
    watched = current_error();
  }
  if (!watched && epoch_ == epoch) go_down(*watched.failure(), task_state::dead);
}

PINION_DECL awaitable<void> channel::watch_lanes(std::uint64_t epoch, pulses lanes) {
  const auto timer = net_.make_timer();
  auto next_ping = net_.now(), wake = next_ping;
  while (epoch_ == epoch && up()) {
    const auto now = net_.now();
    for (const auto& lane : {lanes.data, lanes.control}) {
      if (now - wake > options_.heartbeat / 2) lane->forgive();  // this process was suspended or starved
      lane->look(now);
    }
    const auto data = lanes.data->silence(now), control = lanes.control->silence(now);
    if (const auto why = detail::given_up(*this, options_.heartbeat, data, control))
      co_return go_down(*why, task_state::dead);
    if (now >= next_ping) {
      lanes.data->ask();
      lanes.control->ask();
      if (const auto lane = state_.connection_of(lane::data); lane->memory()) lane->memory()->trim();
      next_ping = now + options_.heartbeat;
    }
    wake = std::min(next_ping, now + 2 * options_.heartbeat - std::max(data, control));
    co_await timer->wait_until(wake);
  }
}

PINION_DECL error channel::lost(const error& why) const {
  if (!why.task().empty()) return why;
  const bool told = why.code() != errc::unavailable;  // the peer gave a reason
  return error(told ? why.code() : errc::unavailable, "lost " + title() + ": " + why.sentence()).in_task(peer());
}

PINION_DECL void channel::go_down(const error& why, task_state as) {
  std::map<std::uint64_t, std::function<void(const error&)>> observers;
  insist([&] {
    std::lock_guard hold(observing_);
    observers = observers_;
  });
  const lane_pair had = state_.go_down(why, as);
  if (!had.data) return;
  ++epoch_;
  had.data->abandon(why);
  had.control->abandon(why);
  for (const auto& [id, down] : observers) insist([&, tell = &down] { (*tell)(why); });
}

}}}  // namespace pinion::v0::rpc
