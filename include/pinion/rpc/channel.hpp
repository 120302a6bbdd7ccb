// The way to one task: a data lane for values, a control lane for heartbeats and what must not wait behind values.
//
// Invariants
//   1. Both lanes lead to the same life of the same task, or the channel is down.
//   2. A channel that is up has heard from its peer within two heartbeats; otherwise it goes down and says so.
//   3. When it goes down, every request under way fails, then every observer is told, each once.
//   4. It is never brought up again unless somebody asks: nothing is sent twice.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pinion/rpc/connection.hpp>
#include <pinion/rpc/fuse.hpp>
#include <pinion/rpc/handshake.hpp>

namespace pinion::inline v0::rpc {

inline constexpr method ping_method = 0;

struct channel_options {
  identity me;                                   // who calls
  duration heartbeat = std::chrono::seconds(1);  // dead after two without a word
  duration reconnect = std::chrono::seconds(5);  // the most that one attempt may take
  limits allowed{};
  std::shared_ptr<rpc::traffic> traffic = std::make_shared<rpc::traffic>();
};

// Shared by those who use it and by its own coroutines. Every public function may be called in any thread; callbacks
// come in the network's.
class channel : public std::enable_shared_from_this<channel> {
 public:
  using finished = std::function<void(const error*)>;

  // `peer` is the name of the task that is expected there; "" takes whoever answers.
  channel(network& net, std::string address, std::string peer, channel_options options)
      : net_(net), address_(std::move(address)), options_(std::move(options)), peer_(std::move(peer)) {}

  const std::string& address() const { return address_; }
  std::string peer() const {
    std::lock_guard hold(mutex_);
    return peer_.empty() ? "the task" : peer_;
  }
  // "/job:ps/replica:0/task:0 at 127.0.0.1:2221".
  std::string title() const { return peer() + " at " + address_; }
  bool up() const {
    std::lock_guard hold(mutex_);
    return data_ != nullptr;
  }
  // Of the life of the task that it is, or was last, connected with; 0 before that.
  std::uint64_t incarnation() const {
    std::lock_guard hold(mutex_);
    return incarnation_;
  }
  // How often it came up so far: what a peer kept for this client is gone when this has changed.
  std::uint64_t generation() const {
    std::lock_guard hold(mutex_);
    return generation_;
  }
  // How long the peer has been silent.
  duration silence() const {
    std::lock_guard hold(mutex_);
    return data_ ? net_.now() - std::max(data_->last_heard(), control_->last_heard()) : duration::max();
  }
  // Why it is not up.
  error why_down() const {
    std::lock_guard hold(mutex_);
    return why_down_.value_or(error(errc::unavailable, "there is no connection with " + peer_ + " at " + address_));
  }

  // Calls back when it is up, or will not be: a refused connection is tried again until `until`, for ever without one.
  void connect(std::optional<time_point> until, finished done) {
    net_.post([self = shared_from_this(), until, done = std::move(done)]() mutable {
      self->connect_here(until, std::move(done));
    });
  }

  void request(rpc::lane by, method m, message&& text, reply_handler handler) {
    if (const auto c = connection_of(by))
      c->request(m, std::move(text), std::move(handler));
    else
      handler.failed(why_down());
  }
  // Dropped when the channel is down.
  void notify(rpc::lane by, method m, message&& text, connection::urgency when = connection::urgency::batch) {
    if (const auto c = connection_of(by)) c->notify(m, std::move(text), when);
  }

  // Called each time it goes down. Returns a number to forget it by; after forget() it may be called once more.
  std::uint64_t observe(std::function<void(const error&)> down) {
    std::lock_guard hold(mutex_);
    observers_.emplace(++last_observer_, std::move(down));
    return last_observer_;
  }
  void forget(std::uint64_t observer) {
    std::lock_guard hold(mutex_);
    observers_.erase(observer);
  }

  // For good. In the network's thread, or followed by something posted to it.
  void close(const error& why) {
    net_.post([self = shared_from_this(), why] {
      self->closed_ = true;
      self->go_down(why);
      self->fail_waiting(why);
      if (self->pause_) self->pause_->cancel();
    });
  }

 private:
  struct attempt {
    std::shared_ptr<rpc::connection> connection;
    welcome peer;
  };
  struct waiting {
    time_point since;
    std::optional<time_point> until;
    finished done;
  };

  std::shared_ptr<connection> connection_of(rpc::lane by) const {
    std::lock_guard hold(mutex_);
    return by == lane::data ? data_ : control_;
  }

  // ---- coming up; in the network's thread

  void connect_here(std::optional<time_point> until, finished done) {
    if (up()) return done(nullptr);
    if (closed_) {
      const error closed(errc::cancelled, "the way to " + title() + " is closed");
      return done(&closed);
    }
    waiting_.push_back({net_.now(), until, std::move(done)});
    if (limit_) limit_->cancel();  // this one may be the first to give up
    if (std::exchange(connecting_, true)) return;
    net_.spawn(come_up(shared_from_this()));
    if (!std::exchange(expiring_, true)) net_.spawn(expire(shared_from_this()));
  }

  awaitable<void> come_up([[maybe_unused]] std::shared_ptr<channel> self) {
    pause_ = net_.make_timer();
    no_success_ = error(errc::unavailable, "no answer so far");
    auto wait = std::chrono::milliseconds(10);
    while (!waiting_.empty() && !closed_ && !up()) {
      std::optional<error> failed;
      try {
        co_await connect_lanes();
      } catch (...) {
        failed = current_error();
      }
      if (!failed) break;
      if (is_final(*failed)) fail_waiting(*failed);
      no_success_ = *failed;
      fail_late();
      if (waiting_.empty() || closed_) break;
      co_await pause_->wait_until(net_.now() + wait);
      wait = std::min(2 * wait, std::chrono::milliseconds(200));
    }
    connecting_ = false;
    if (limit_) limit_->cancel();
    if (up())
      for (auto& w : std::exchange(waiting_, {})) w.done(nullptr);
  }
  // Each waits until its own time, however long an attempt takes.
  awaitable<void> expire([[maybe_unused]] std::shared_ptr<channel> self) {
    limit_ = net_.make_timer();
    while (connecting_) {
      fail_late();
      auto next = time_point::max();
      for (const auto& w : waiting_) next = std::min(next, w.until.value_or(next));
      co_await limit_->wait_until(next);
    }
    expiring_ = false;
  }
  // Trying again would not help.
  static bool is_final(const error& e) { return e.code() != errc::unavailable && e.code() != errc::deadline_exceeded; }

  awaitable<void> connect_lanes() {
    hello mine;
    mine.channel = random_number();
    mine.from = options_.me.name;
    mine.incarnation = options_.me.incarnation;
    mine.to = peer_;
    mine.lane = lane::control;
    auto control = co_await connect_lane(mine);
    mine.lane = lane::data;
    auto data = co_await connect_lane(mine);
    if (control.peer.incarnation != data.peer.incarnation)
      throw error(errc::unavailable, title() + " was restarted between two connections");
    came_up(std::move(data), std::move(control));
  }
  awaitable<attempt> connect_lane(hello mine) {
    const auto limit = attempt_limit();
    auto stream = co_await net_.connect(address_, limit);
    attempt result;
    {
      fuse limited(net_, *stream, limit);
      result.peer = co_await greet(*stream, std::move(mine), options_.me.key, address_);
    }
    result.connection = std::make_shared<connection>(net_, std::move(stream), options_.traffic, options_.allowed);
    co_return result;
  }
  time_point attempt_limit() const {
    auto limit = net_.now() + options_.reconnect;
    for (const auto& w : waiting_)
      if (w.until) limit = std::min(limit, *w.until);
    return limit;
  }

  void came_up(attempt data, attempt control) {
    if (closed_) return;
    const auto epoch = ++epoch_;
    data.connection->start(handlers_of(epoch));
    control.connection->start(handlers_of(epoch));
    {
      std::lock_guard hold(mutex_);
      data_ = std::move(data.connection);
      control_ = std::move(control.connection);
      incarnation_ = data.peer.incarnation;
      ++generation_;
      if (peer_.empty()) peer_ = data.peer.name;
      why_down_.reset();
    }
    net_.spawn(watch(shared_from_this(), epoch));
  }
  connection_handlers handlers_of(std::uint64_t epoch) {
    const auto refuse = []() -> std::unique_ptr<incoming> {
      throw error(errc::data_loss, "a server sent something that is no answer");
    };
    return {.request = [refuse](const envelope&, responder) { return refuse(); },
            .notice = [refuse](const envelope&) { return refuse(); },
            .closed =
                [self = weak_from_this(), epoch](const error& why) {
                  if (const auto c = self.lock(); c && c->epoch_ == epoch) c->go_down(c->lost(why));
                },
            .explain = [self = shared_from_this()](const error& why) { return self->lost(why); }};
  }

  void fail_waiting(const error& why) {
    for (auto& w : std::exchange(waiting_, {})) w.done(&why);
  }
  void fail_late() {
    const auto now = net_.now();
    std::vector<waiting> late;
    for (std::size_t i = waiting_.size(); i-- > 0;)
      if (waiting_[i].until && *waiting_[i].until <= now) {
        late.push_back(std::move(waiting_[i]));
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    for (auto& w : late) {
      const error e(errc::deadline_exceeded,
                    "waited " + seconds(now - w.since) + " for " + title() + ": " + no_success_.sentence());
      w.done(&e);
    }
  }

  // ---- being up

  awaitable<void> watch([[maybe_unused]] std::shared_ptr<channel> self, std::uint64_t epoch) {
    const auto timer = net_.make_timer();
    auto next_ping = net_.now(), wake = next_ping;
    while (epoch_ == epoch && up()) {
      const auto now = net_.now();
      if (now - wake > options_.heartbeat / 2) forgive();  // this process was stopped itself, or starved
      if (silence() >= 2 * options_.heartbeat) {
        go_down(error(errc::unavailable,
                      title() + " has not answered for " + seconds(silence()) + ": it is dead, stopped or cut off")
                    .in_task(peer()));
        co_return;
      }
      if (now >= next_ping) {
        ping();
        next_ping = now + options_.heartbeat;
      }
      wake = std::min(next_ping, now + 2 * options_.heartbeat - silence());
      co_await timer->wait_until(wake);
    }
  }
  void forgive() {
    std::lock_guard hold(mutex_);
    if (data_) data_->forgive();
  }
  void ping() {
    request(lane::control, ping_method, message(),
            {.open = [](const envelope&) { return nullptr; }, .failed = [](const error&) {}});
  }
  static std::string seconds(duration d) {
    const auto tenths = std::chrono::duration_cast<std::chrono::milliseconds>(d).count() / 100;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
  }

  // ---- going down

  error lost(const error& why) const {
    if (!why.task().empty()) return why;
    const bool told = why.code() != errc::unavailable;  // the peer said why
    return error(told ? why.code() : errc::unavailable, "lost " + title() + ": " + why.sentence()).in_task(peer());
  }
  void go_down(const error& why) {
    std::shared_ptr<connection> data, control;
    std::map<std::uint64_t, std::function<void(const error&)>> observers;
    {
      std::lock_guard hold(mutex_);
      if (!data_) return;
      data = std::exchange(data_, nullptr);
      control = std::exchange(control_, nullptr);
      why_down_ = why;
      observers = observers_;
    }
    ++epoch_;
    data->abandon(why);
    control->abandon(why);
    for (const auto& [id, down] : observers) down(why);
  }

  network& net_;
  const std::string address_;
  const channel_options options_;

  // Of the network's thread.
  std::vector<waiting> waiting_;
  std::unique_ptr<rpc::timer> pause_, limit_;
  error no_success_{errc::unavailable, ""};  // what became of the last attempt
  bool connecting_ = false, expiring_ = false, closed_ = false;
  std::uint64_t epoch_ = 0;

  mutable std::mutex mutex_;
  std::string peer_;
  std::uint64_t incarnation_ = 0, generation_ = 0, last_observer_ = 0;
  std::shared_ptr<connection> data_, control_;
  std::optional<error> why_down_;
  std::map<std::uint64_t, std::function<void(const error&)>> observers_;
};

}  // namespace pinion::inline v0::rpc
