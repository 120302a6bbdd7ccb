// One of several queues, which a value chooses in each step.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/called_from.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/op/control/functions.hpp>
#include <pinion/op/queue/functions.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {
// The index, checked to be below `count`; any other value fails the step.
expr<std::int32_t> checked_choice(const expr<std::int32_t>& index, std::size_t count, source_location where);
expr<bool> is_choice(const expr<std::int32_t>& index, std::size_t number);
}  // namespace dsl

// The queue that a value of the step chooses among queues of the same element dtypes. An operation on it runs on the
// chosen queue alone, by the rules of queue. A value; queue_from_list makes it.
template <element... T>
class chosen_queue {
 public:
  // Throws invalid_argument where there are no queues.
  chosen_queue(const expr<std::int32_t>& index, std::vector<queue<T...>> queues, source_location where)
      : queues_(std::move(queues)) {
    if (queues_.empty()) throw error(errc::invalid_argument, "queue_from_list was given no queues");
    index_ = dsl::checked_choice(index, queues_.size(), where);
  }

  operation enqueue(const dsl::component<T>&... components, source_location where = source_location::current()) const {
    return choose(where, [&](const queue<T...>& q) { return q.enqueue(components...); });
  }
  operation enqueue_many(const dsl::component<T>&... components,
                         source_location where = source_location::current()) const {
    return choose(where, [&](const queue<T...>& q) { return q.enqueue_many(components...); });
  }
  auto dequeue(source_location where = source_location::current()) const {
    return choose(where, [](const queue<T...>& q) { return q.dequeue(); });
  }
  auto dequeue_many(std::int64_t n, source_location where = source_location::current()) const {
    return choose(where, [n](const queue<T...>& q) { return q.dequeue_many(n); });
  }
  auto dequeue_up_to(std::int64_t n, source_location where = source_location::current()) const {
    return choose(where, [n](const queue<T...>& q) { return q.dequeue_up_to(n); });
  }
  expr<std::int32_t> size(source_location where = source_location::current()) const {
    return choose(where, [](const queue<T...>& q) { return q.size(); });
  }
  expr<bool> is_closed(source_location where = source_location::current()) const {
    return choose(where, [](const queue<T...>& q) { return q.is_closed(); });
  }
  operation close(const close_options& o = {}, source_location where = source_location::current()) const {
    return choose(where, [&o](const queue<T...>& q) { return q.close(o); });
  }

 private:
  // A cond on the device of the queues: one branch uses the first queue, the other chooses among the rest.
  template <class Use>
  auto choose(source_location where, const Use& use) const {
    const called_from line(where);
    std::optional<colocate_with> near;
    if (&default_graph() == &queues_[0].owner()) near.emplace(queues_[0]);  // a body runs where its node is
    return among(use, 0);
  }
  template <class Use>
  auto among(const Use& use, std::size_t first) const -> decltype(use(std::declval<const queue<T...>&>())) {
    const std::size_t second = std::min(first + 1, queues_.size() - 1);
    return cond(
        dsl::is_choice(index_, first), [&] { return use(queues_[first]); },
        [&] { return second + 1 < queues_.size() ? among(use, second) : use(queues_[second]); });
  }

  std::vector<queue<T...>> queues_;
  expr<std::int32_t> index_;
};

// Chooses a queue by index, as tf.QueueBase.from_list: auto q = queue_from_list(index, {a, b}), or a vector where the
// queues are of several kinds. The queues live in one task; otherwise the step cannot be placed. An index that no queue
// has fails the step with invalid_argument.
template <element T, element... More>
chosen_queue<T, More...> queue_from_list(const expr<std::int32_t>& index, std::vector<queue<T, More...>> queues,
                                         source_location where = source_location::current()) {
  return {index, std::move(queues), where};
}
template <std::derived_from<any_queue> Q>
auto queue_from_list(const expr<std::int32_t>& index, std::initializer_list<Q> queues,
                     source_location where = source_location::current()) {
  const auto plain = []<element... T>(const queue<T...>& q) {
    return q;
  };
  std::vector<decltype(plain(std::declval<const Q&>()))> all;
  for (const Q& q : queues) all.push_back(plain(q));
  return queue_from_list(index, std::move(all), where);
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/queue/queue_list.ipp>
#endif
