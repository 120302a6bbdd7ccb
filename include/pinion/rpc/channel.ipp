// Bodies of <pinion/rpc/channel.hpp>.
#pragma once

#include <algorithm>

#include <pinion/base/insist.hpp>
#include <pinion/base/log.hpp>
#include <pinion/rpc/channel.hpp>
#include <pinion/rpc/security/security.hpp>
#include <pinion/rpc/shared_memory/local_network.hpp>
#include <pinion/rpc/tls_stream.hpp>
#include <pinion/rpc/transport/asio_io.hpp>
#include <pinion/rpc/transport/fuse.hpp>

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
            .silence = net_.now() - std::max(data_->last_heard(), control_->last_heard()),
            .values_by = data_->shares_memory()  ? "shared memory"
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

PINION_DECL void channel::notify(rpc::lane by, method m, message&& text, connection::urgency when) {
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
    self->fail_waiting(why);
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
  waiting_.push_back({net_.now(), until, std::move(done)});
  if (limit_) limit_->cancel();  // this caller may have the earliest deadline
  const auto begin = [this](bool& runs, auto coroutine) {
    if (std::exchange(runs, true)) return;
    const auto begun = outcome_of([&] { net_.spawn((this->*coroutine)(shared_from_this())); });
    if (begun) return;
    runs = false;
    fail_waiting(*begun.failure());
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
  if (!tried) fail_waiting(*tried.failure());
  if (limit_) limit_->cancel();
  if (up()) end_waiting({});
}

PINION_DECL awaitable<void> channel::try_to_come_up() {
  pause_ = net_.make_timer();
  begin_attempts();
  const auto began = net_.now();
  int final_ones = 0;
  while (!waiting_.empty() && !closed_ && !up()) {
    const place where = target();
    tried_ = where.address;
    outcome<> connected;
    try {
      co_await connect_lanes(where.address);
    } catch (...) {
      connected = current_error();
    }
    if (connected) break;
    note_failure(*connected.failure());
    const bool has_moved = address() != where.address;  // what answers at its former place says nothing about it
    const bool elsewhere = switch_to_other();
    const bool counts = is_final(*connected.failure()) && !has_moved && !(where.is_told && elsewhere);
    if (counts && (!elsewhere || ++final_ones > 1)) fail_waiting(*connected.failure());
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
      auto next = time_point::max();
      for (const auto& w : waiting_) next = std::min(next, w.until.value_or(next));
      co_await limit_->wait_until(next);
    }
  } catch (...) {
    watched = current_error();
  }
  expiring_ = false;
  if (!watched) fail_waiting(*watched.failure());
}

// g++ 12 takes the frame of a coroutine, where it has inlined Asio's operator new, for one that another function frees.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
PINION_DECL awaitable<void> channel::connect_lanes(const std::string& where) {
  hello mine;
  mine.channel = random_number();
  mine.to = peer_;
  mine.address = options_.reached_at;
  mine.spec = options_.spec;
  mine.heartbeat_ms =
      static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::milliseconds>(options_.heartbeat).count());
  mine.lane = lane::control;
  auto control = co_await connect_lane(where, mine);
  mine.lane = lane::data;
  auto data = co_await connect_on_host(where, mine, control);
  if (!data.connection) data = co_await connect_lane(where, mine);
  if (control.peer.incarnation != data.peer.incarnation)
    throw error(errc::unavailable, title_at(where) + " was restarted between two connections");
  came_up(std::move(data), std::move(control));
}
#pragma GCC diagnostic pop

PINION_DECL awaitable<channel::attempt> channel::connect_lane(const std::string& where, hello mine) {
  const auto limit = attempt_limit();
  auto stream = co_await net_.connect(where, limit);
  co_return co_await connect_over(std::move(stream), where, std::move(mine), limit);
}

PINION_DECL awaitable<channel::attempt> channel::connect_on_host(const std::string& where, hello mine,
                                                                 const attempt& control) {
  attempt reached;
  const std::string& at = control.peer.on_host;
  if (!options_.shared_memory || !control.stays_on_host || !is_name_on_host(at)) co_return reached;
  outcome<> connected;
  try {
    auto stream = co_await net_.connect_on_host(at, options_.slabs);
    reached = co_await connect_over(std::move(stream), where, std::move(mine), attempt_limit());
    if (reached.peer.incarnation != control.peer.incarnation)
      throw error(errc::unavailable, "another task listens at its address within this host");
  } catch (...) {
    connected = current_error();
  }
  if (connected) co_return reached;
  note_no_sharing(connected.failure()->sentence());
  co_return attempt();
}

PINION_DECL void channel::note_no_sharing(const std::string& why) {
  if (std::exchange(told_no_sharing_, true)) return;
  write_log(log_level::info, options_.me.name, "shares no memory with " + title() + ", and uses TCP: " + why);
}

PINION_DECL awaitable<channel::attempt> channel::connect_over(std::unique_ptr<byte_stream> stream,
                                                              const std::string& where, hello mine, time_point limit) {
  attempt result;
  result.stays_on_host = stream->stays_on_host();
  outcome<> met;
  {
    fuse limited(net_, *stream, limit);
    try {
      result.peer = co_await meet(stream, where, std::move(mine));
    } catch (...) {
      met = current_error();
    }
    if (limited.burnt()) met = error(errc::deadline_exceeded, title_at(where) + " has not finished the handshake");
  }
  met.value();
  result.connection = std::make_shared<connection>(net_, std::move(stream), options_.traffic, options_.allowed);
  co_return result;
}

PINION_DECL awaitable<welcome> channel::meet(std::unique_ptr<byte_stream>& stream, const std::string& where,
                                             hello mine) {
  if (const auto& files = options_.me.shows.tls) {
    auto sealed = std::make_unique<tls_stream>(net_, std::move(stream), files, side::client);
    tls_stream& both = *sealed;
    stream = std::move(sealed);
    co_await both.shake_hands(where);
  }
  co_return co_await greet(*stream, std::move(mine), options_.me, where);
}

PINION_DECL time_point channel::attempt_limit() const {
  auto limit = net_.now() + options_.reconnect;
  for (const auto& w : waiting_)
    if (w.until) limit = std::min(limit, *w.until);
  std::lock_guard hold(mutex_);
  return other_.address.empty() ? limit : net_.now() + (limit - net_.now()) / 2;  // the other one is to be tried too
}

PINION_DECL void channel::came_up(attempt data, attempt control) {
  if (closed_) return;
  const auto epoch = ++epoch_;
  begin(*data.connection, *control.connection, epoch);
  {
    std::lock_guard hold(mutex_);
    data_ = std::move(data.connection);
    control_ = std::move(control.connection);
    incarnation_ = data.peer.incarnation;
    ++generation_;
    if (peer_.empty()) peer_ = data.peer.name;
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

PINION_DECL void channel::fail_waiting(const error& why) {
  end_waiting(why);
}

PINION_DECL void channel::end_waiting(const outcome<>& how) {
  for (auto& w : std::exchange(waiting_, {})) static_cast<void>(outcome_of([&] { w.done(how); }));  // all are told
}

PINION_DECL void channel::fail_late() {
  const auto now = net_.now();
  std::vector<waiting> late;
  for (std::size_t i = waiting_.size(); i-- > 0;)
    if (waiting_[i].until && *waiting_[i].until <= now) {
      late.push_back(std::move(waiting_[i]));
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  for (auto& w : late)
    static_cast<void>(outcome_of([&] {
      w.done(error(errc::deadline_exceeded, "waited " + seconds(now - w.since) + " for " +
                                                title_at(tried_.empty() ? address() : tried_) + ": " + last_failure()));
    }));
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
      data_->trim();
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
    heard_ = std::max(data->last_heard(), control->last_heard());
    if (!next_.address.empty()) target_ = std::exchange(next_, {});
  }
  ++epoch_;
  data->abandon(why);
  control->abandon(why);
  for (const auto& [id, down] : observers) insist([&, tell = &down] { (*tell)(why); });
}

}}}  // namespace pinion::v0::rpc
