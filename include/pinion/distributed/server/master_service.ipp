// Bodies of <pinion/distributed/server/master_service.hpp>.
#pragma once

#include <utility>

#include <pinion/base/insist.hpp>
#include <pinion/distributed/server/master_service.hpp>
#include <pinion/runtime/backend.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL std::optional<opened> master_service::request(const delivery& d) {
  using self = master_service;
  static constexpr handler<self> requests[] = {
      {open_session::method, &self::open},
      {extend_graph::method, &self::extend, true, true},
      {extend_known::method, &self::extend_by_known},
      {prepare_step::method, &self::prepare, true},
      {plan_step::method, &self::plan, true},
      {list_request::method, &self::list_devices},
      {reset_request::method, &self::reset},
      {run_prepared::method, &self::run, true, true},
      {distributed::begin_partial_run::method, &self::begin_partial_run},
      {distributed::continue_partial_run::method, &self::continue_partial_run, true, true},
  };
  return hand_to<self>(*this, requests, d);
}

PINION_DECL std::optional<opened> master_service::notice(const delivery& d) {
  using self = master_service;
  static constexpr handler<self> notices[] = {
      {cancel_runs::method, &self::cancel_steps},
      {close_session::method, &self::close},
      {distributed::end_partial_run::method, &self::end_partial_run},
  };
  return hand_to<self>(*this, notices, d);
}

// ---- sessions

PINION_DECL opened master_service::open(const delivery& d) {
  return on<open_session>(d, [this, from = d.peer](open_session&& o) {
    const auto session = master_->open({o.soft, std::move(o.filters), o.optimize, {o.receive_ahead, o.narrow}},
                                       from->channel, from->address);
    try {
      sessions_of_[from->channel].insert(session->handle());
    } catch (...) {
      let_go(master_->close(session->handle(), current_error()));
      throw;
    }
    return opened_session{session->handle()};
  });
}

PINION_DECL opened master_service::cancel_steps(const delivery& d) {
  return rpc::receive<cancel_runs>(d.envelope, [this, from = d.peer](cancel_runs&& c) {
    if (is_of(from, c.session)) master_->cancel_steps(c.session, c.why);
  });
}

PINION_DECL opened master_service::close(const delivery& d) {
  return rpc::receive<close_session>(d.envelope, [this, from = d.peer](close_session&& c) {
    if (!is_of(from, c.session)) return;
    let_go(master_->close(c.session, runtime::closed_meanwhile()));
    sessions_of_[from->channel].erase(c.session);  // last: what no memory is left to close, gone() closes
  });
}

PINION_DECL void master_service::gone(std::uint64_t client, const error& why) {
  if (const auto theirs = sessions_of_.extract(client))
    for (const auto handle : theirs.mapped()) let_go(master_->close(handle, why));
}

PINION_DECL std::size_t master_service::sessions_of(std::uint64_t client) const {
  const auto at = sessions_of_.find(client);
  return at == sessions_of_.end() ? 0 : at->second.size();
}

PINION_DECL bool master_service::is_of(const rpc::peer_ref& who, std::uint64_t session) const {
  const auto at = sessions_of_.find(who->channel);
  return at != sessions_of_.end() && at->second.count(session) > 0;
}

PINION_DECL void master_service::let_go(std::shared_ptr<master_session> closed) {
  if (!closed) return;
  spare_.graphs_let_go();
  const auto line = closed->handle();
  insist([&] { builders_.drop(line); });
  insist([&] { builders_.add(line, [closed] { closed->let_go(); }); });
}

PINION_DECL opened master_service::list_devices(const delivery& d) {
  return reader_.waiting<list_request>(d, [this, from = d.peer](list_request&& l) {
    return list_reply{master_->find(l.session, from->channel)->devices({.startup = from_ms(l.startup_ms)})};
  });
}

PINION_DECL opened master_service::reset(const delivery& d) {
  return reader_.waiting<reset_request>(d, [this](reset_request&& r) {
    master_->reset(r.containers);
    return nothing{};
  });
}

// ---- graphs

PINION_DECL opened master_service::extend(const delivery& d) {
  if (!welcome(d, [&] { master_->find(beginning_of<std::uint64_t>(d), d.peer->channel); })) return nullptr;
  return reader_.in_order<extend_graph>(
      d, [this, answer = d.answer, from = d.peer](extend_graph&& x, std::uint64_t memory, const quotas::share&) {
        reply_with(answer, std::move(x), [this, from, memory](extend_graph&& more) {
          master_->find(more.session, from->channel)->extend(std::move(more.delta), memory);
          return nothing{};
        });
      });
}

PINION_DECL opened master_service::extend_by_known(const delivery& d) {
  if (!welcome(d, [&] { master_->find(beginning_of<std::uint64_t>(d), d.peer->channel); })) return nullptr;
  return reader_.in_order<extend_known>(
      d, [this, answer = d.answer, from = d.peer](extend_known&& x, std::uint64_t, const quotas::share&) {
        reply_with(answer, std::move(x), [this, from](extend_known&& more) {
          return extended_known{master_->find(more.session, from->channel)->extend_known(more.delta)};
        });
      });
}

// ---- steps

PINION_DECL opened master_service::prepare(const delivery& d) {
  return reader_.waiting<prepare_step>(d, [this, from = d.peer](prepare_step&& p) {
    return master_->find(p.session, from->channel)
        ->prepare(p.signature, {from_ms(p.startup_ms), from_ms(p.max_wait_ms)}, {p.lines, p.partial});
  });
}

PINION_DECL opened master_service::plan(const delivery& d) {
  return reader_.waiting<plan_step>(d, [this, from = d.peer](plan_step&& p) {
    return plan_reply{
        master_->find(p.session, from->channel)->plan(p.signature, {from_ms(p.startup_ms), from_ms(p.max_wait_ms)})};
  });
}

PINION_DECL opened master_service::run(const delivery& d) {
  opened taken;
  welcome(d, [&] { taken = d.envelope.control.size() > rpc::long_control ? run_long(d) : run_short(d); });
  return taken;
}

PINION_DECL opened master_service::run_short(const delivery& d) {
  auto head = rpc::read_head<run_prepared_of<described_value>>(d.envelope);
  client_run r{.session = master_->find(head.session, d.peer->channel),
               .step = head.step,
               .client = d.peer->channel,
               .max_wait_ms = head.max_wait_ms,
               .trace = head.trace,
               .answer = d.answer};
  r.session->runs().expect_feeds(head.step, std::span<const described_value>(head.feeds));
  r.counted = reader_.of_clients().of_run(d.peer->channel);
  r.held = reader_.hold(d);
  rpc::payload_rooms rooms(d.envelope.lent);
  for (auto& feed : head.feeds) r.feeds.push_back(feed.make(rooms));
  return rpc::welcome_in(std::move(r), std::move(rooms), [this](client_run&& ready) { begin_run(std::move(ready)); });
}

PINION_DECL opened master_service::run_long(const delivery& d) {
  std::uint64_t session = 0, step = 0;
  rpc::reader in(d.envelope.control, d.envelope.payload);
  in(session, step);
  master_->find(session, d.peer->channel)->runs().expect_feeds(step, d.envelope.payload);
  return reader_.in_order<run_prepared>(
      d, [this, answer = d.answer, from = d.peer, counted = reader_.of_clients().of_run(d.peer->channel)](
             run_prepared&& r, std::uint64_t, quotas::share held) {
        begin_run({.session = master_->find(r.session, from->channel),
                   .step = r.step,
                   .client = from->channel,
                   .max_wait_ms = r.max_wait_ms,
                   .feeds = std::move(r.feeds),
                   .trace = r.trace,
                   .answer = answer,
                   .counted = counted,
                   .held = std::move(held)});
      });
}

PINION_DECL void master_service::begin_run(client_run&& r) {
  const answer_ref answer = r.answer;
  const deadline limit = until(r.max_wait_ms);
  or_fail(answer, [&] {
    if (r.session->is_fresh(r.step)) return run_fresh(std::move(r), limit);
    const auto client = r.client;
    reader_.begin(client, [limit, held = std::make_shared<client_run>(std::move(r))] {
      or_fail(held->answer, [&] {
        held->session->refresh(held->step, limit);
        run_fresh(std::move(*held), limit);
      });
    });
  });
}

PINION_DECL void master_service::run_fresh(client_run&& r, deadline until) {
  auto& session = *r.session;
  session.run(r.step, std::move(r.feeds), r.trace, until, worker::begin_in::pool,
              [answer = r.answer, session = r.session, counted = std::move(r.counted),
               held = std::move(r.held)](run_result ran) {
                if (failed_without_trace(ran)) return answer->fail(*ran.failure);
                answer->reply_with([&] {
                  return rpc::encode(run_reply{std::move(ran.fetches), session->runs().take_notices(),
                                               std::move(ran.trace), ran.failure});
                });
              });
}

PINION_DECL deadline master_service::until(std::uint64_t ms) const {
  return after(master_->network(), from_ms(ms));
}

// ---- partial runs

PINION_DECL opened master_service::begin_partial_run(const delivery& d) {
  using request = distributed::begin_partial_run;
  opened taken;
  welcome(d, [&] {
    auto counted = reader_.of_clients().of_run(d.peer->channel);
    taken = reader_.waiting<request>(d, [this, from = d.peer, counted = std::move(counted)](request&& b) {
      const auto session = master_->find(b.session, from->channel);
      session->refresh(b.step, until(b.max_wait_ms));
      return partial_run_begun{session->begin_partial_run(b.step, counted)};
    });
  });
  return taken;
}

PINION_DECL opened master_service::continue_partial_run(const delivery& d) {
  using request = distributed::continue_partial_run;
  opened taken;
  welcome(d, [&] {
    std::uint64_t handle = 0, run = 0;
    rpc::reader in(d.envelope.control, d.envelope.payload);
    in(handle, run);
    master_->find(handle, d.peer->channel)->runs().partial_run(run)->expect_feeds(d.envelope.payload);
    taken = reader_.in_order<request>(
        d, [this, answer = d.answer, from = d.peer](request&& c, std::uint64_t, quotas::share held) {
          const auto session = master_->find(c.session, from->channel);
          session->runs().partial_run(c.run)->take(
              {std::move(c.feeds), std::move(c.values), std::move(c.fetches), std::move(c.targets)},
              until(c.max_wait_ms), std::move(held), [answer, session](outcome<std::vector<any_tensor>> fetched) {
                if (!fetched) return answer->fail(*fetched.failure());
                answer->reply_with([&] {
                  return rpc::encode(partial_run_continued{std::move(fetched).value(), session->runs().take_notices()});
                });
              });
        });
  });
  return taken;
}

PINION_DECL opened master_service::end_partial_run(const delivery& d) {
  using request = distributed::end_partial_run;
  return rpc::receive<request>(d.envelope, [this, from = d.peer](request&& e) {
    if (is_of(from, e.session)) master_->end_partial_run(e.session, e.run);
  });
}

}}}  // namespace pinion::v0::distributed
