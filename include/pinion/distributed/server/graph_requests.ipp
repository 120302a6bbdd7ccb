// Bodies of <pinion/distributed/server/task_server.hpp>: the requests that bring graphs, or name them.
#pragma once

#include <utility>

#include <pinion/distributed/server/task_server.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL task_server::opened task_server::keep_step(const delivery& d) {
  if (!welcome(d, [&] { worker_.expect_of(requester_of(d.peer), beginning_of<session_id>(d)); })) return nullptr;
  return in_order<register_step>(
      d, [this, answer = d.answer, from = d.peer](register_step&& r, std::uint64_t memory, quotas::share held) {
        worker_.register_step(requester_of(from), std::move(r), memory,
                              [answer, held = std::move(held)](const outcome<>& how) { settle(answer, how); });
      });
}

PINION_DECL task_server::opened task_server::keep_known(const delivery& d) {
  if (!welcome(d, [&] { worker_.expect_of(requester_of(d.peer), beginning_of<session_id>(d)); })) return nullptr;
  return in_order<register_known>(
      d, [this, answer = d.answer, from = d.peer](register_known&& r, std::uint64_t memory, quotas::share held) {
        worker_.register_known(requester_of(from), std::move(r), memory,
                               [answer, held = std::move(held)](const outcome<bool>& known) {
                                 if (!known) return answer->fail(*known.failure());
                                 answer->reply_with([&] { return rpc::encode(registered_known{known.value()}); });
                               });
      });
}

PINION_DECL task_server::opened task_server::extend(const delivery& d) {
  if (!welcome(d, [&] { master_->find(beginning_of<std::uint64_t>(d), d.peer->channel); })) return nullptr;
  return in_order<extend_graph>(
      d, [this, answer = d.answer, from = d.peer](extend_graph&& x, std::uint64_t memory, const quotas::share&) {
        reply_with(answer, std::move(x), [this, from, memory](extend_graph&& more) {
          master_->find(more.session, from->channel)->extend(std::move(more.delta), memory);
          return nothing{};
        });
      });
}

PINION_DECL task_server::opened task_server::extend_by_known(const delivery& d) {
  if (!welcome(d, [&] { master_->find(beginning_of<std::uint64_t>(d), d.peer->channel); })) return nullptr;
  return in_order<extend_known>(
      d, [this, answer = d.answer, from = d.peer](extend_known&& x, std::uint64_t, const quotas::share&) {
        reply_with(answer, std::move(x), [this, from](extend_known&& more) {
          return extended_known{master_->find(more.session, from->channel)->extend_known(more.delta)};
        });
      });
}

}}}  // namespace pinion::v0::distributed
