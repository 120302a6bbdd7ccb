// Bodies of <pinion/distributed/worker/exchange.hpp>.
#pragma once

#include <algorithm>
#include <vector>

#include <pinion/base/insist.hpp>
#include <pinion/distributed/wire/messages.hpp>
#include <pinion/distributed/worker/exchange.hpp>
#include <pinion/opkit/transfer_key.hpp>

namespace pinion { inline namespace v0 { namespace distributed { namespace detail {

inline void expect_short(const transfer_key& key) {
  if (key.text().size() > rpc::short_text::longest)
    throw error(errc::data_loss, "a value has a key of " + std::to_string(key.text().size()) + " bytes; the limit is " +
                                     std::to_string(rpc::short_text::longest));
}

inline void expect_of_cluster(const peers& cluster, const std::string& task, const rpc::peer& from) {
  if (!cluster.knows(from.name) || from.name == task)
    throw error(errc::permission_denied, "values come from other tasks of the cluster only");
}

// Is the channel to this life of a task up?
inline bool is_up(peers& others, const std::string& task, std::uint64_t incarnation) {
  const auto route = others.knows(task) ? others.route_to(task) : nullptr;
  return route && route->up() && route->incarnation() == incarnation;
}

inline error lost_way(const std::string& peer, const std::string& did, const std::string& why) {
  return error(errc::unavailable, "lost the connection by which " + peer + " " + did + ": " + why).in_task(peer);
}

// How long after the beginning of a run the channel from a peer may be missing: the peer begins its part later.
inline constexpr rpc::duration way_may_miss = std::chrono::seconds(2);

inline error too_much_offered(std::string_view to_task, const std::string& task, std::uint64_t most) {
  return error(errc::resource_exhausted, std::string(to_task) + " has not asked for the values that wait for it in " +
                                             task + ", and more than " + std::to_string(most) +
                                             " bytes would (server_config.limits.bytes_offered)")
      .in_task(task);
}

// Throws the reason for which a run that has begun takes no such value from the peer; `is` is null for a value that is
// announced.
inline void expect_awaited(const run_table::entry& r, const transfer_key& key, const value_outline* is,
                           const rpc::peer& from) {
  const auto peer = r.peers.find(from.name);
  if (peer == r.peers.end() || peer->second != from.incarnation)
    throw error(errc::aborted, from.name + " was restarted, or takes no part in this run");
  if (!r.awaited) return;
  const auto type = r.awaited->find(key);
  if (type == r.awaited->end() || key.from_task() != from.name)
    throw error(errc::data_loss,
                from.name + " sent the value '" + key.text() + "', which this run does not await from it");
  if (is) expect_type(key, *is, type->second);
}

}}}}  // namespace pinion::v0::distributed::detail

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL std::shared_ptr<remote_rendezvous> exchange::begin(const run_id& run, incarnations of_peers,
                                                               std::function<void(const error&)> failed,
                                                               std::shared_ptr<const awaited_values> awaited) {
  std::lock_guard hold(mutex_);
  return runs_.begin(run, std::move(of_peers), std::move(failed), std::move(awaited));
}

PINION_DECL void exchange::end(const run_id& run) {
  entry ended;
  {
    std::lock_guard hold(mutex_);
    ended = runs_.take(run);
  }
  const error over(errc::cancelled, "the run has ended");
  if (ended.meet) ended.meet->abort(over);
}

PINION_DECL bool exchange::is_over(const run_id& run) const {
  std::lock_guard hold(mutex_);
  return runs_.is_over(run);
}

PINION_DECL void exchange::forget(const run_id& run) {
  end(run);
  std::lock_guard hold(mutex_);
  offers_.forget(run);
}

PINION_DECL void exchange::forget_session(const session_id& session) {
  std::lock_guard hold(mutex_);
  offers_.forget_session(session);
}

PINION_DECL bool exchange::sweep() {
  bool forgot_some = false;
  run_table::failed_runs late;
  {
    std::lock_guard hold(mutex_);
    forgot_some = runs_.sweep(late);
  }
  for (const auto& meet : late) meet->abort(error(errc::cancelled, "the run never began here"));
  fail_unreachable();
  return forgot_some || !late.empty();
}

PINION_DECL exchange::counts exchange::count() const {
  std::lock_guard hold(mutex_);
  return {runs_.size(), offers_.count(), runs_.early()};
}

PINION_DECL void exchange::came(const rpc::peer_ref& who) {
  if (!knows(who->name)) return;  // it sends no values
  std::lock_guard hold(mutex_);
  senders_.add(*who, net_.now());
}

PINION_DECL bool exchange::forget_channel(const rpc::peer& who, const error& why) {
  run_table::failed_runs failing;
  const error lost = detail::lost_way(who.name, "sent values before the run began", why.sentence());
  {
    std::lock_guard hold(mutex_);
    accounts_.erase(who.channel);
    const auto removed = senders_.remove(who);
    if (removed == sender_channels::removed::none) return false;
    if (removed == sender_channels::removed::last_of_sender)
      insist([&] { runs_.fail_runs_of(early_values::sender_of(who), lost, failing); });
  }
  run_table::free_values(failing);
  return true;
}

PINION_DECL void exchange::gone(const rpc::peer_ref& who, const error& why) {
  if (!forget_channel(*who, why)) return;
  if (!detail::is_up(peers_, who->name, who->incarnation))
    return;  // the channel to it tells its runs, or has told them
  // Where the peer itself has just died, or came back as another, the channel to it is about to tell that. Where it
  // answers, it lives, and what was on its way is lost.
  const auto asked = outcome_of([&] {
    const auto lost = detail::lost_way(who->name, "sends values", why.sentence());
    route_to(who->name)->request(rpc::lane::control, rpc::ping_method, rpc::message(),
                                 {.open =
                                      [this, lost, since = net_.now()](const rpc::envelope&) {
                                        insist([&] { fail_runs_with(lost.task(), since, lost); });
                                        return nullptr;
                                      },
                                  .failed = [](const error&) {}});
  });
  if (!asked) insist([&] { fail_runs_with(who->name, net_.now(), *asked.failure()); });
}

PINION_DECL void exchange::fail_runs_with(const std::string& peer, time_point until, const error& why) {
  time_point last;
  {
    std::lock_guard hold(mutex_);
    last = std::min(senders_.since(peer), until);
  }
  const auto concerned = [last](const entry& r) { return r.born <= last; };
  fail_runs_with(peer, concerned, why);
}

PINION_DECL void exchange::fail_unreachable() {
  std::vector<std::pair<run_id, incarnations::value_type>> waiting;
  {
    std::lock_guard hold(mutex_);
    for (const auto& [run, r] : runs_.all()) {
      const auto limit = r.born + detail::way_may_miss;
      if (!r.begun || r.has_lost || net_.now() < limit) continue;
      const auto key = r.meet->missing();
      const auto peer = r.peers.find(key.from_task());
      if (peer != r.peers.end() && senders_.since(peer->first) > limit) waiting.emplace_back(run, *peer);
    }
  }
  for (const auto& [run, peer] : waiting)
    if (detail::is_up(peers_, peer.first, peer.second))
      fail(run, detail::lost_way(peer.first, "sends values", "there was none when the run began"));
}

PINION_DECL std::shared_ptr<rpc::channel> exchange::route_to(std::string_view task) {
  auto route = peers_.route_to(task);
  std::lock_guard hold(mutex_);
  if (const auto known = watched_.find(task); known != watched_.end() && known->second.lock() == route) return route;
  std::erase_if(watched_, [](const auto& w) { return w.second.expired(); });  // of tasks that have left
  route->observe([this, task = std::string(task)](const error& why) { lost(task, why); });
  watched_[std::string(task)] = route;  // last, so that none counts as watched that is not
  return route;
}

PINION_DECL void exchange::carry(const run_id& run, const transfer_key& key, std::string_view to_task,
                                 any_tensor value) {
  const auto route = route_to(to_task);
  if (!route->up()) return fail(run, route->why_down());
  const std::uint64_t bytes = weight_of(value);
  bool push = false, kept = false;
  {
    std::lock_guard hold(mutex_);
    if (runs_.is_over(run)) return;  // it was cancelled while this value was made, and nobody would pull it
    auto found = in_flight_.find(to_task);
    if (found == in_flight_.end()) found = in_flight_.emplace(to_task, 0).first;
    auto& on_the_way = found->second;
    push = on_the_way + bytes <= options_.credit;
    if (push)
      on_the_way += bytes;
    else
      kept = offers_.add(run, key, to_task, value);
  }
  if (!push && !kept) return fail(run, detail::too_much_offered(to_task, task_, offers_.most()));
  if (!push) return route->notify(rpc::lane::data, announce_value::method, rpc::encode(announce_value{run, key}));
  try {
    route->notify(rpc::lane::data, push_value::method, rpc::encode(push_value{run, key, std::move(value)}),
                  bytes > rpc::outbox::worth_sharing ? rpc::urgency::now : rpc::urgency::batch);
  } catch (...) {
    std::lock_guard hold(mutex_);
    return_credit_of(to_task, bytes);
    throw;
  }
}

PINION_DECL void exchange::return_credit_of(std::string_view task, std::uint64_t bytes) {
  const auto on_the_way = in_flight_.find(task);
  if (on_the_way != in_flight_.end()) on_the_way->second -= std::min(on_the_way->second, bytes);
}

PINION_DECL void exchange::fetch(const run_id& run, const transfer_key& key, std::string_view from_task, fetched done) {
  std::shared_ptr<const awaited_values> all;  // null: the run awaits any
  {
    std::lock_guard hold(mutex_);
    if (const entry* const r = runs_.find(run)) all = r->awaited;
  }
  const auto open = [this, run, all, key, done](const rpc::envelope& e) -> std::unique_ptr<rpc::incoming> {
    pulled_of<value_outline> outline;
    rpc::reader in(e.control, e.payload);
    in(outline);
    const auto found = outcome_of([&] {
      if (all) expect_one_of(*all, key, outline.value);
    });
    if (found) return receive_value(e, in, outline, run, done);
    done(found.failure());
    return nullptr;
  };
  route_to(from_task)->request(rpc::lane::data, pull_value::method, rpc::encode(pull_value{run, key}),
                               {.open = open, .failed = [done](const error& why) { done(why); }});
}

template <template <class> class Of>
std::unique_ptr<rpc::incoming> exchange::receive_value(const rpc::envelope& e, rpc::reader& in,
                                                       const Of<value_outline>& outline, const run_id& run,
                                                       fetched done) {
  if (outline.value.dtype == dtype::string && e.control.size() > rpc::long_control)
    return rpc::receive_sealed<Of<any_tensor>>(e, [this, run, done](rpc::sealed<Of<any_tensor>>&& mail) {
      compute(run, [done, mail = std::make_shared<rpc::sealed<Of<any_tensor>>>(std::move(mail))] {
        done(outcome_of([&] { return mail->open().value; }));
      });
    });
  described_value described = load_rest(in, outline.value);
  in.finish();
  rpc::payload_rooms rooms(e.lent);
  any_tensor value = described.make(rooms);
  return rpc::welcome_in(std::move(value), std::move(rooms), std::move(done));
}

PINION_DECL std::unique_ptr<rpc::incoming> exchange::pushed(const rpc::envelope& e, const rpc::peer_ref& from) {
  constexpr std::uint64_t least = std::uint64_t{256} << 20;
  const auto of_peer = account_of(from);
  push_of<value_outline> outline;
  rpc::reader in(e.control, e.payload);
  in(outline);
  detail::expect_short(outline.key);
  const std::uint64_t bytes = weight_of(outline.value, in), most = 16 * options_.credit;
  if (of_peer->held() + bytes > std::max(most, least))
    throw error(errc::resource_exhausted, from->name + " pushed more than its credit");
  const auto meet = meeting(outline.run, outline.key, &outline.value, e.control.size() + outline.value.bytes(), from);
  of_peer->hold(bytes);
  std::shared_ptr<void> credit(nullptr, [of_peer, bytes](void*) { of_peer->release(bytes); });
  if (!meet) return nullptr;  // its bytes are passed over
  return receive_value(e, in, outline, outline.run,
                       [meet, key = std::move(outline.key), credit](outcome<any_tensor>&& value) {
                         value ? meet->arrive(key, {std::move(value).value(), credit}) : meet->abort(*value.failure());
                       });
}

PINION_DECL std::unique_ptr<rpc::incoming> exchange::announced(const rpc::envelope& e, const rpc::peer_ref& from) {
  return rpc::receive<announce_value>(e, [this, from](announce_value&& v) {
    detail::expect_of_cluster(peers_, task_, *from);
    detail::expect_short(v.key);
    if (const auto meet = meeting(v.run, v.key, nullptr, v.key.text().size(), from)) meet->announce(v.key, from->name);
  });
}

PINION_DECL std::unique_ptr<rpc::incoming> exchange::pulled(const rpc::envelope& e, const rpc::peer_ref& from,
                                                            std::shared_ptr<rpc::responder> answer) {
  return rpc::receive<pull_value>(e, [this, from, answer](pull_value&& v) {
    if (v.key.to_task() != from->name)
      return answer->fail(error(errc::permission_denied, "the value '" + v.key.text() + "' is for another task"));
    any_tensor offered;
    {
      std::lock_guard hold(mutex_);
      offered = offers_.take(v.run, v.key);
    }
    if (offered.empty())
      answer->fail(error(errc::aborted, "the value '" + v.key.text() + "' is no longer in " + task_ +
                                            ": its run was cancelled, or " + task_ +
                                            " lost the master, or the task that asks, meanwhile")
                       .in_task(task_));
    else
      answer->reply_with([&] { return rpc::encode(pulled_value{std::move(offered)}); });
  });
}

PINION_DECL std::unique_ptr<rpc::incoming> exchange::credited(const rpc::envelope& e, const rpc::peer_ref& from) {
  return rpc::receive<return_credit>(e, [this, from](return_credit&& c) {
    detail::expect_of_cluster(peers_, task_, *from);
    std::lock_guard hold(mutex_);
    return_credit_of(from->name, c.bytes);
  });
}

PINION_DECL std::shared_ptr<remote_rendezvous> exchange::meeting(const run_id& run, const transfer_key& key,
                                                                 const value_outline* is, std::uint64_t bytes,
                                                                 const rpc::peer_ref& from) {
  std::function<void(const error&)> failed;
  run_table::failed_runs failing;
  std::shared_ptr<remote_rendezvous> found;
  outcome<> expects;
  {
    std::lock_guard hold(mutex_);
    const entry* const r = runs_.find(run);
    if (!r && runs_.is_over(run)) return nullptr;
    if (!r || !r->begun) {
      if (key.from_task() != from->name) return nullptr;  // it has no such value
      expects = outcome_of([&] { found = runs_.await(*from, run, bytes, failing); });
    } else {
      expects = outcome_of([&] { detail::expect_awaited(*r, key, is, *from); });
      if (expects)
        found = r->meet;
      else
        failed = r->failed;
    }
  }
  run_table::free_values(failing);
  if (!failed) return expects.value(), found;
  error why = *expects.failure();
  failed(why.in_task(from->name));
  return nullptr;
}

PINION_DECL void exchange::fail(const run_id& run, const error& why) {
  std::function<void(const error&)> failed;
  {
    std::lock_guard hold(mutex_);
    if (entry* const r = runs_.find(run); r && !std::exchange(r->has_lost, true)) failed = r->failed;
  }
  if (failed) failed(why);
}

PINION_DECL void exchange::lost(const std::string& task, const error& why) {
  {
    std::lock_guard hold(mutex_);
    if (const auto on_the_way = in_flight_.find(task); on_the_way != in_flight_.end()) on_the_way->second = 0;
    offers_.forget_task(task);
  }
  const auto all = [](const entry&) { return true; };
  fail_runs_with(task, all, why);
}

PINION_DECL std::shared_ptr<credit_account> exchange::account_of(const rpc::peer_ref& from) {
  {
    std::lock_guard hold(mutex_);
    if (const auto known = accounts_.find(from->channel); known != accounts_.end()) return known->second;
  }
  detail::expect_of_cluster(peers_, task_, *from);
  auto back = peers_.route_to(from->name);
  std::lock_guard hold(mutex_);
  auto& found = accounts_[from->channel];
  if (!found)
    found = std::make_shared<credit_account>(std::move(back), std::max<std::uint64_t>(options_.credit / 4, 1));
  return found;
}

}}}  // namespace pinion::v0::distributed
