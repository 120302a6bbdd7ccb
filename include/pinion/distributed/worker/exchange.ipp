// Bodies of <pinion/distributed/worker/exchange.hpp>.
#pragma once

#include <algorithm>
#include <vector>

#include <pinion/distributed/wire/messages.hpp>
#include <pinion/distributed/worker/exchange.hpp>
#include <pinion/runtime/step/transfer_key.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL std::shared_ptr<remote_rendezvous> exchange::begin(std::uint64_t run, incarnations of_peers,
                                                               std::function<void(const error&)> failed) {
  std::lock_guard hold(mutex_);
  if (buried_.count(run)) throw error(errc::cancelled, "the run was cancelled before it began");
  auto& r = expected(run);
  if (r.begun) throw error(errc::already_exists, "run " + std::to_string(run) + " has begun here already");
  r.begun = true;
  r.peers = std::move(of_peers);
  r.failed = std::move(failed);
  return r.meet;
}

PINION_DECL void exchange::end(std::uint64_t run) {
  const auto ended = take(run);
  const error over(errc::cancelled, "the run has ended");
  if (ended.meet) ended.meet->abort(over);
}

PINION_DECL void exchange::forget(std::uint64_t run) {
  end(run);
  std::lock_guard hold(mutex_);
  offers_.erase(run);
}

PINION_DECL void exchange::forget_session(std::uint64_t session) {
  std::lock_guard hold(mutex_);
  drop_offers([&](std::uint64_t run, const std::string&) { return session_of(run) == session; });
}

PINION_DECL void exchange::sweep() {
  std::vector<std::shared_ptr<remote_rendezvous>> late;
  {
    std::lock_guard hold(mutex_);
    for (auto at = runs_.begin(); at != runs_.end();) {
      const bool drop = !at->second.begun && net_.now() - at->second.born > options_.patience;
      if (drop) late.push_back(at->second.meet);
      at = drop ? runs_.erase(at) : std::next(at);
    }
  }
  for (const auto& meet : late) meet->abort(error(errc::cancelled, "the run never began here"));
}

PINION_DECL std::size_t exchange::runs() const {
  std::lock_guard hold(mutex_);
  return runs_.size();
}

PINION_DECL std::size_t exchange::offered() const {
  std::lock_guard hold(mutex_);
  std::size_t n = 0;
  for (const auto& [run, values] : offers_) n += values.size();
  return n;
}

PINION_DECL void exchange::gone(const rpc::guest_ref& who) {
  std::lock_guard hold(mutex_);
  accounts_.erase(who->channel);
}

PINION_DECL std::shared_ptr<rpc::channel> exchange::way_to(std::string_view task) {
  auto way = peers_.way_to(task);
  std::lock_guard hold(mutex_);
  if (watched_.insert(std::string(task)).second)
    way->observe([this, task = std::string(task)](const error& why) { lost(task, why); });
  return way;
}

PINION_DECL void exchange::carry(std::uint64_t run, const std::string& key, std::string_view to_task,
                                 any_tensor value) {
  const auto way = way_to(to_task);
  if (!way->up()) return fail(run, way->why_down());
  const std::uint64_t bytes = value.empty() ? 0 : value.bytes();
  bool push = false;
  {
    std::lock_guard hold(mutex_);
    auto& on_the_way = in_flight_[std::string(to_task)];
    push = on_the_way + bytes <= options_.credit;
    if (push)
      on_the_way += bytes;
    else
      offers_[run].emplace(key, value);
  }
  if (push)
    way->notify(rpc::lane::data, push_value::method, rpc::encode(push_value{run, key, std::move(value)}));
  else
    way->notify(rpc::lane::data, announce_value::method, rpc::encode(announce_value{run, key}));
}

PINION_DECL void exchange::fetch(std::uint64_t run, const std::string& key, std::string_view from_task, fetched done) {
  rpc::call<pulled_value>(*way_to(from_task), rpc::lane::data, pull_value{run, key},
                          [done = std::move(done)](outcome<pulled_value> answer) {
                            done(std::move(answer).then([](pulled_value v) { return std::move(v.value); }));
                          });
}

PINION_DECL std::unique_ptr<rpc::incoming> exchange::pushed(const rpc::envelope& e, const rpc::guest_ref& from) {
  const auto of_peer = account_of(from);
  const std::uint64_t most = 16 * options_.credit;
  if (of_peer->held() + e.payload > std::max(most, std::uint64_t{256} << 20))
    throw error(errc::resource_exhausted, from->name + " pushed more than its credit");
  return rpc::receive<push_value>(e, [this, from, of_peer](push_value&& v) {
    const std::uint64_t bytes = v.value.empty() ? 0 : v.value.bytes();
    of_peer->hold(bytes);
    std::shared_ptr<void> credit(nullptr, [of_peer, bytes](void*) { of_peer->release(bytes); });
    if (const auto meet = meeting(v.run, from)) meet->arrive(v.key, {std::move(v.value), std::move(credit)});
  });
}

PINION_DECL std::unique_ptr<rpc::incoming> exchange::announced(const rpc::envelope& e, const rpc::guest_ref& from) {
  return rpc::receive<announce_value>(e, [this, from](announce_value&& v) {
    if (!peers_.knows(from->name)) return;
    if (const auto meet = meeting(v.run, from)) meet->announce(v.key, from->name);
  });
}

PINION_DECL std::unique_ptr<rpc::incoming> exchange::pulled(const rpc::envelope& e,
                                                            std::shared_ptr<rpc::responder> answer) {
  return rpc::receive<pull_value>(e, [this, answer](pull_value&& v) {
    any_tensor offered = take_offer(v.run, v.key);
    if (offered.empty())
      answer->fail(error(errc::cancelled, "the value '" + v.key + "' is no longer there: its run was cancelled"));
    else
      answer->reply(rpc::encode(pulled_value{std::move(offered)}));
  });
}

PINION_DECL any_tensor exchange::take_offer(std::uint64_t run, const std::string& key) {
  std::lock_guard hold(mutex_);
  const auto at = offers_.find(run);
  if (at == offers_.end()) return {};
  auto taken = at->second.extract(key);
  if (at->second.empty()) offers_.erase(at);
  return taken ? std::move(taken.mapped()) : any_tensor();
}

PINION_DECL std::unique_ptr<rpc::incoming> exchange::credited(const rpc::envelope& e, const rpc::guest_ref& from) {
  return rpc::receive<return_credit>(e, [this, from](return_credit&& c) {
    std::lock_guard hold(mutex_);
    auto& on_the_way = in_flight_[from->name];
    on_the_way -= std::min(on_the_way, c.bytes);
  });
}

PINION_DECL void exchange::account::release(std::uint64_t bytes) {
  held_.fetch_sub(bytes, std::memory_order_relaxed);
  const auto due = due_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (due < portion_ || !back_->up()) return;
  const auto all = due_.exchange(0, std::memory_order_relaxed);
  if (all > 0) back_->notify(rpc::lane::data, return_credit::method, rpc::encode(return_credit{all}));
}

PINION_DECL exchange::entry& exchange::expected(std::uint64_t run) {
  auto& r = runs_[run];
  if (!r.meet) {
    r.meet = std::make_shared<remote_rendezvous>(run, task_, *this);
    r.born = net_.now();
  }
  return r;
}

PINION_DECL std::shared_ptr<remote_rendezvous> exchange::meeting(std::uint64_t run, const rpc::guest_ref& from) {
  std::function<void(const error&)> failed;
  {
    std::lock_guard hold(mutex_);
    if (buried_.count(run)) return nullptr;
    auto& r = expected(run);
    const auto peer = r.peers.find(from->name);
    if (!r.begun || (peer != r.peers.end() && peer->second == from->incarnation)) return r.meet;
    failed = r.failed;
  }
  failed(error(errc::aborted, from->name + " was restarted, or takes no part in this run").in_task(from->name));
  return nullptr;
}

PINION_DECL exchange::entry exchange::take(std::uint64_t run) {
  std::lock_guard hold(mutex_);
  if (buried_.insert(run).second) graves_.push_back(run);
  if (graves_.size() > options_.tombstones) {
    buried_.erase(graves_.front());
    graves_.pop_front();
  }
  auto taken = runs_.extract(run);
  return taken ? std::move(taken.mapped()) : entry{};
}

PINION_DECL void exchange::fail(std::uint64_t run, const error& why) {
  std::function<void(const error&)> failed;
  {
    std::lock_guard hold(mutex_);
    if (const auto at = runs_.find(run); at != runs_.end()) failed = at->second.failed;
  }
  if (failed) failed(why);
}

PINION_DECL void exchange::lost(const std::string& task, const error& why) {
  std::vector<std::function<void(const error&)>> concerned;
  {
    std::lock_guard hold(mutex_);
    in_flight_[task] = 0;
    drop_offers(
        [&](std::uint64_t, const std::string& key) { return task_of_device(runtime::destination_of(key)) == task; });
    for (const auto& [run, r] : runs_)
      if (r.begun && r.peers.find(task) != r.peers.end()) concerned.push_back(r.failed);
  }
  for (const auto& failed : concerned) failed(why);
}

PINION_DECL std::shared_ptr<exchange::account> exchange::account_of(const rpc::guest_ref& from) {
  if (!peers_.knows(from->name)) throw error(errc::permission_denied, "values come from tasks of the cluster only");
  auto back = peers_.way_to(from->name);
  std::lock_guard hold(mutex_);
  auto& found = accounts_[from->channel];
  if (!found) found = std::make_shared<account>(std::move(back), std::max<std::uint64_t>(options_.credit / 4, 1));
  return found;
}

}}}  // namespace pinion::v0::distributed
