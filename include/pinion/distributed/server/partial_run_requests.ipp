// Bodies of <pinion/distributed/server/task_server.hpp>: requests of clients about partial runs.
#pragma once

#include <utility>

#include <pinion/distributed/server/task_server.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL task_server::opened task_server::start_partial_run(const delivery& d) {
  opened taken;
  welcome(d, [&] {
    taken = waiting<begin_partial_run>(
        d, [this, from = d.peer, counted = quotas_.of_run(d.peer->channel)](begin_partial_run&& b) {
          const auto session = master_->find(b.session, from->channel);
          session->refresh(b.step, until(b.max_wait_ms));
          return partial_run_begun{session->begin_partial_run(b.step, counted)};
        });
  });
  return taken;
}

PINION_DECL task_server::opened task_server::feed_partial_run(const delivery& d) {
  opened taken;
  welcome(d, [&] {
    std::uint64_t handle = 0, run = 0;
    rpc::reader in(d.envelope.control, d.envelope.payload);
    in(handle, run);
    master_->find(handle, d.peer->channel)->partial_run(run)->expect_feeds(d.envelope.payload);
    taken = in_order<continue_partial_run>(
        d, [this, answer = d.answer, from = d.peer](continue_partial_run&& t, std::uint64_t, quotas::share held) {
          const auto session = master_->find(t.session, from->channel);
          session->partial_run(t.run)->take(
              {std::move(t.feeds), std::move(t.values), std::move(t.fetches), std::move(t.targets)},
              until(t.max_wait_ms), std::move(held), [answer, session](outcome<std::vector<any_tensor>> fetched) {
                if (!fetched) return answer->fail(*fetched.failure());
                answer->reply_with([&] {
                  return rpc::encode(partial_run_continued{std::move(fetched).value(), session->take_notices()});
                });
              });
        });
  });
  return taken;
}

PINION_DECL task_server::opened task_server::forget_partial_run(const delivery& d) {
  return rpc::receive<end_partial_run>(d.envelope, [this, from = d.peer](end_partial_run&& e) {
    if (is_of(from, e.session)) master_->end_partial_run(e.session, e.run);
  });
}

}}}  // namespace pinion::v0::distributed
