// Bodies of <pinion/rpc/channel.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/insist.hpp>
#include <pinion/rpc/channel.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL std::string channel::peer() const {
  std::lock_guard hold(mutex_);
  return peer_.empty() ? "the task" : peer_;
}

PINION_DECL std::string channel::title() const {
  return title_at(address());
}

PINION_DECL std::string channel::title_at(const std::string& where) const {
  return peer() + " at " + where;
}

PINION_DECL std::string channel::address() const {
  std::lock_guard hold(mutex_);
  return target_.address;
}

PINION_DECL channel::place channel::target() const {
  std::lock_guard hold(mutex_);
  return target_;
}

PINION_DECL void channel::moved_to(const place& first, const place& otherwise) {
  std::lock_guard hold(mutex_);
  // The other one of two places is tried next if it was to be, however often the first one changes.
  const bool alternates = !other_.address.empty() || first.is_told;
  other_ = otherwise.address == first.address ? place() : otherwise;
  next_ = data_ && first.address != target_.address ? first : place();
  if (data_) return;
  const bool other_is_next = alternates && !other_.address.empty() && target_.address == other_.address;
  target_ = first;
  if (other_is_next) std::swap(target_, other_);
}

PINION_DECL bool channel::up() const {
  std::lock_guard hold(mutex_);
  return data_ != nullptr;
}

PINION_DECL std::uint64_t channel::incarnation() const {
  std::lock_guard hold(mutex_);
  return incarnation_;
}

PINION_DECL std::uint64_t channel::generation() const {
  std::lock_guard hold(mutex_);
  return options_.generations + generation_;
}

PINION_DECL error channel::why_down() const {
  std::lock_guard hold(mutex_);
  return why_down_.value_or(
      error(errc::unavailable, "there is no connection with " + peer_ + " at " + target_.address));
}

PINION_DECL task_view channel::view() const {
  std::lock_guard hold(mutex_);
  if (data_)
    return {.state = task_state::running,
            .silence = net_.now() - std::max(data_->in().last_heard(), control_->in().last_heard()),
            .values_by = data_->memory()         ? "shared memory"
                         : options_.me.shows.tls ? "TLS"
                                                 : "TCP"};
  task_view seen{.state = left_, .silence = std::nullopt};
  if (heard_) seen.silence = net_.now() - *heard_;
  if (failed_ || why_down_) seen.reason = (failed_ ? failed_ : why_down_)->sentence();
  return seen;
}

PINION_DECL void channel::connect(std::optional<time_point> until, completion<> done) {
  net_.post([self = shared_from_this(), until, done = std::move(done)]() mutable {
    const auto begun = outcome_of([&] { self->connect_here(until, done); });
    if (!begun) done(begun);
  });
}

PINION_DECL void channel::request(rpc::lane by, method m, message&& text, reply_handler handler) {
  if (const auto c = connection_of(by))
    c->request(m, std::move(text), std::move(handler));
  else
    handler.failed(why_down());
}

PINION_DECL void channel::notify(rpc::lane by, method m, message&& text, urgency when) {
  if (const auto c = connection_of(by)) c->notify(m, std::move(text), when);
}

PINION_DECL void channel::expect(deliveries& all) const {
  all.expect(data_);
  all.expect(control_);
}

PINION_DECL std::uint64_t channel::observe(std::function<void(const error&)> down) {
  std::lock_guard hold(mutex_);
  observers_.emplace(++last_observer_, std::move(down));
  return last_observer_;
}

PINION_DECL void channel::forget(std::uint64_t observer) {
  std::lock_guard hold(mutex_);
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

PINION_DECL std::shared_ptr<connection> channel::connection_of(rpc::lane by) const {
  std::lock_guard hold(mutex_);
  return by == lane::data ? data_ : control_;
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
  begin_attempts();
  const auto began = net_.now();
  int final_ones = 0;
  const std::function<time_point()> limit = [this] { return attempt_limit(); };
  while (!waiting_.empty() && !closed_ && !up()) {
    const place where = target();
    tried_ = where.address;
    outcome<> connected;
    try {
      came_up(co_await connector_.connect(where.address, peer_, limit));
    } catch (...) {
      connected = current_error();
    }
    if (connected) break;
    note_failure(*connected.failure());
    const bool has_moved = address() != where.address;  // what answers at its former place says nothing about it
    const bool elsewhere = switch_to_other();
    const bool counts = is_final(*connected.failure()) && !has_moved && !(where.is_told && elsewhere);
    if (counts && (!elsewhere || ++final_ones > 1)) waiting_.end(*connected.failure());
    fail_late();
    if (waiting_.empty() || closed_) break;
    co_await pause_->wait_until(net_.now() + pause_after(net_.now() - began));
  }
}

PINION_DECL bool channel::switch_to_other() {
  std::lock_guard hold(mutex_);
  if (other_.address.empty()) return false;
  std::swap(target_, other_);
  return true;
}

PINION_DECL duration channel::pause_after(duration waited) const {
  const auto longest = std::clamp<duration>(waited / 8, std::chrono::milliseconds(10), std::chrono::seconds(1));
  return longest / 2 +
         duration(static_cast<duration::rep>(net_.draw() % static_cast<std::uint64_t>(longest.count() / 2)));
}

PINION_DECL void channel::note_failure(const error& e) {
  std::lock_guard hold(mutex_);
  failed_ = e;
}

PINION_DECL void channel::begin_attempts() {
  std::lock_guard hold(mutex_);
  failed_.reset();
  if (!why_down_) failed_ = error(errc::unavailable, "no answer so far");
}

PINION_DECL std::string channel::last_failure() const {
  std::lock_guard hold(mutex_);
  return failed_ ? std::string(failed_->sentence()) : "no answer so far";
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
  std::lock_guard hold(mutex_);
  return other_.address.empty() ? limit : net_.now() + (limit - net_.now()) / 2;  // the other one is to be tried too
}

PINION_DECL void channel::came_up(reached_lanes lanes) {
  if (closed_) return;
  const auto epoch = ++epoch_;
  begin(*lanes.data.connection, *lanes.control.connection, epoch);
  {
    std::lock_guard hold(mutex_);
    data_ = std::move(lanes.data.connection);
    control_ = std::move(lanes.control.connection);
    incarnation_ = lanes.data.peer.incarnation;
    ++generation_;
    if (peer_.empty()) peer_ = lanes.data.peer.name;
    why_down_.reset();
    failed_.reset();
  }
  net_.spawn(watch(shared_from_this(), epoch, {std::make_shared<pulse>(data_), std::make_shared<pulse>(control_)}));
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
  waiting_.fail_late(net_.now(),
                     [this] { return title_at(tried_.empty() ? address() : tried_) + ": " + last_failure(); });
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
    if (const auto why = given_up(data, control)) co_return go_down(*why, task_state::dead);
    if (now >= next_ping) {
      lanes.data->ask();
      lanes.control->ask();
      if (data_->memory()) data_->memory()->trim();
      next_ping = now + options_.heartbeat;
    }
    wake = std::min(next_ping, now + 2 * options_.heartbeat - std::max(data, control));
    co_await timer->wait_until(wake);
  }
}

PINION_DECL std::optional<error> channel::given_up(duration data, duration control) const {
  const auto both = std::min(data, control), one = std::max(data, control);
  if (one < 2 * options_.heartbeat) return std::nullopt;
  const std::string silent = " has not answered", time = " for " + seconds(one);
  const char* const dead = data > control ? "data" : "control";
  const char* const alive = data > control ? "control" : "data";
  if (both >= options_.heartbeat * 9 / 8)  // neither has answered the question of a heartbeat ago
    return error(errc::unavailable, title() + silent + time + ": it is dead, stopped or cut off").in_task(peer());
  return error(errc::unavailable, title() + silent + " on the " + dead + " lane" + time + ", but does on the " + alive +
                                      " lane: something between the tasks holds that connection up")
      .in_task(peer());
}

PINION_DECL error channel::lost(const error& why) const {
  if (!why.task().empty()) return why;
  const bool told = why.code() != errc::unavailable;  // the peer gave a reason
  return error(told ? why.code() : errc::unavailable, "lost " + title() + ": " + why.sentence()).in_task(peer());
}

PINION_DECL void channel::go_down(const error& why, task_state as) {
  std::shared_ptr<connection> data, control;
  std::map<std::uint64_t, std::function<void(const error&)>> observers;
  insist([&] {
    std::lock_guard hold(mutex_);
    observers = observers_;
  });
  {
    std::lock_guard hold(mutex_);
    if (!data_) return;
    data = std::exchange(data_, nullptr);
    control = std::exchange(control_, nullptr);
    if (!insist([&] { why_down_ = why; })) why_down_.emplace(why.code(), "");
    left_ = as;
    heard_ = std::max(data->in().last_heard(), control->in().last_heard());
    if (!next_.address.empty()) target_ = std::exchange(next_, {});
  }
  ++epoch_;
  data->abandon(why);
  control->abandon(why);
  for (const auto& [id, down] : observers) insist([&, tell = &down] { (*tell)(why); });
}

}}}  // namespace pinion::v0::rpc
