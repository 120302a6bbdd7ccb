// Bodies of <pinion/distributed/worker/credit_account.hpp>.
#pragma once

#include <pinion/distributed/wire/messages.hpp>
#include <pinion/distributed/worker/credit_account.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

PINION_DECL void credit_account::release(std::uint64_t bytes) {
  held_.fetch_sub(bytes, std::memory_order_relaxed);
  const auto due = due_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (due < portion_ || !back_->up()) return;
  const auto all = due_.exchange(0, std::memory_order_relaxed);
  if (all == 0) return;
  const auto told =
      outcome_of([&] { back_->notify(rpc::lane::data, return_credit::method, rpc::encode(return_credit{all})); });
  if (!told) due_.fetch_add(all, std::memory_order_relaxed);  // it goes with the next; a destructor must not throw
}

}}}  // namespace pinion::v0::distributed
