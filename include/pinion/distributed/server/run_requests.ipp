// Bodies of <pinion/distributed/server/task_server.hpp>: requests of clients to run a prepared step.
#pragma once

#include <utility>

#include <pinion/distributed/server/task_server.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL task_server::opened task_server::run(const delivery& d) {
  opened taken;
  welcome(d, [&] { taken = d.envelope.control.size() > rpc::long_control ? run_long(d) : run_short(d); });
  return taken;
}

PINION_DECL task_server::opened task_server::run_short(const delivery& d) {
  auto head = rpc::read_head<run_head>(d.envelope);
  client_run r{.session = master_->find(head.session, d.peer->channel),
               .step = head.step,
               .client = d.peer->channel,
               .max_wait_ms = head.max_wait_ms,
               .trace = head.trace,
               .answer = d.answer};
  r.session->expect_feeds(head.step, std::span<const described_value>(head.feeds));
  r.counted = quotas_.of_run(d.peer->channel);
  r.held = hold(d);
  rpc::payload_rooms rooms(d.envelope.lent);
  for (auto& feed : head.feeds) r.feeds.push_back(feed.make(rooms));
  return rpc::welcome_in(std::move(r), std::move(rooms), [this](client_run&& ready) { begin_run(std::move(ready)); });
}

PINION_DECL task_server::opened task_server::run_long(const delivery& d) {
  std::uint64_t session = 0, step = 0;
  rpc::reader in(d.envelope.control, d.envelope.payload);
  in(session, step);
  master_->find(session, d.peer->channel)->expect_feeds(step, d.envelope.payload);
  return in_order<run_prepared>(d, [this, answer = d.answer, from = d.peer, counted = quotas_.of_run(d.peer->channel)](
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

PINION_DECL void task_server::begin_run(client_run&& r) {
  const answer_ref answer = r.answer;
  const deadline limit = until(r.max_wait_ms);
  or_fail(answer, [&] {
    if (r.session->is_fresh(r.step)) return run_fresh(std::move(r), limit);
    const auto client = r.client;
    calls_.begin(client, [limit, held = std::make_shared<client_run>(std::move(r))] {
      or_fail(held->answer, [&] {
        held->session->refresh(held->step, limit);
        run_fresh(std::move(*held), limit);
      });
    });
  });
}

PINION_DECL void task_server::run_fresh(client_run&& r, deadline until) {
  auto& session = *r.session;
  session.run(r.step, std::move(r.feeds), r.trace, until, worker::begin_in::pool,
              [answer = r.answer, session = r.session, counted = std::move(r.counted),
               held = std::move(r.held)](run_result ran) {
                if (failed_without_trace(ran)) return answer->fail(*ran.failure);
                answer->reply_with([&] {
                  return rpc::encode(
                      run_reply{std::move(ran.fetches), session->take_notices(), std::move(ran.trace), ran.failure});
                });
              });
}

}}}  // namespace pinion::v0::distributed
