// Bodies of <pinion/distributed/server/worker_service.hpp>.
#pragma once

#include <utility>

#include <pinion/distributed/server/worker_service.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL std::optional<opened> worker_service::request(const delivery& d) {
  using self = worker_service;
  static constexpr handler<self> requests[] = {
      {distributed::register_step::method, &self::register_step, true, true},
      {distributed::register_known::method, &self::register_known, true},
      {run_step::method, &self::run},
      {progress_request::method, &self::progress},
      {reset_containers::method, &self::reset},
      {pull_value::method, &self::pull},
  };
  return hand_to<self>(*this, requests, d);
}

PINION_DECL std::optional<opened> worker_service::notice(const delivery& d) {
  using self = worker_service;
  static constexpr handler<self> notices[] = {
      {push_value::method, &self::push, true, true},
      {announce_value::method, &self::announce},
      {distributed::return_credit::method, &self::return_credit},
      {cancel_run::method, &self::cancel},
      {distributed::settle_run::method, &self::settle_run},
      {forget_session::method, &self::forget},
  };
  return hand_to<self>(*this, notices, d);
}

// ---- parts of steps

PINION_DECL opened worker_service::register_step(const delivery& d) {
  if (!welcome(d, [&] { worker_.registrar().expect_of(requester_of(d.peer), beginning_of<session_id>(d)); }))
    return nullptr;
  return reader_.in_order<distributed::register_step>(d, [this, answer = d.answer, from = d.peer](
                                                             distributed::register_step&& r, std::uint64_t memory,
                                                             quotas::share held) {
    worker_.registrar().register_step(requester_of(from), std::move(r), memory,
                                      [answer, held = std::move(held)](const outcome<>& how) { settle(answer, how); });
  });
}

PINION_DECL opened worker_service::register_known(const delivery& d) {
  if (!welcome(d, [&] { worker_.registrar().expect_of(requester_of(d.peer), beginning_of<session_id>(d)); }))
    return nullptr;
  return reader_.in_order<distributed::register_known>(
      d, [this, answer = d.answer, from = d.peer](distributed::register_known&& r, std::uint64_t memory,
                                                  quotas::share held) {
        worker_.registrar().register_known(
            requester_of(from), std::move(r), memory, [answer, held = std::move(held)](const outcome<bool>& known) {
              if (!known) return answer->fail(*known.failure());
              answer->reply_with([&] { return rpc::encode(registered_known{known.value()}); });
            });
      });
}

PINION_DECL opened worker_service::run(const delivery& d) {
  return rpc::receive<run_step>(d.envelope, [this, answer = d.answer, from = d.peer](run_step&& r) {
    or_fail(answer, [&] {
      worker_.run(
          r, requester_of(from), {}, 0, worker::begin_in::pool,
          [this, answer, session = r.run.session](run_result ran) {
            if (failed_without_trace(ran)) return answer->fail(*ran.failure);
            answer->reply_with([&] {
              return rpc::encode(
                  part_ended{worker_.take_notices(session), std::move(ran.trace), ran.failure, ran.holds});
            });
          },
          reader_.of_clients().of_run_of_task(from->channel));
    });
  });
}

PINION_DECL opened worker_service::progress(const delivery& d) {
  return on<progress_request>(
      d, [this, from = d.peer](progress_request&& p) { return worker_.progress_of(p.run, requester_of(from)); });
}

PINION_DECL opened worker_service::reset(const delivery& d) {
  return on<reset_containers>(d, [this](reset_containers&& r) {
    worker_.reset(r.containers);
    return nothing{};
  });
}

PINION_DECL opened worker_service::cancel(const delivery& d) {
  return rpc::receive<cancel_run>(
      d.envelope, [this, from = d.peer](cancel_run&& c) { worker_.cancel(c.run, c.why, requester_of(from)); });
}

PINION_DECL opened worker_service::settle_run(const delivery& d) {
  return rpc::receive<distributed::settle_run>(
      d.envelope, [this, from = d.peer](distributed::settle_run&& s) { worker_.settle(s.run, requester_of(from)); });
}

PINION_DECL opened worker_service::forget(const delivery& d) {
  return rpc::receive<forget_session>(
      d.envelope, [this, from = d.peer](forget_session&& f) { worker_.forget_session(f.session, requester_of(from)); });
}

// ---- values

PINION_DECL opened worker_service::pull(const delivery& d) {
  return exchange_.pulled(d.envelope, d.peer, d.answer);
}

PINION_DECL opened worker_service::push(const delivery& d) {
  return exchange_.pushed(d.envelope, d.peer);
}

PINION_DECL opened worker_service::announce(const delivery& d) {
  return exchange_.announced(d.envelope, d.peer);
}

PINION_DECL opened worker_service::return_credit(const delivery& d) {
  return exchange_.credited(d.envelope, d.peer);
}

}}}  // namespace pinion::v0::distributed
