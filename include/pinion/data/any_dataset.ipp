// Bodies of <pinion/data/any_dataset.hpp>.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include <pinion/base/error.hpp>
#include <pinion/data/any_dataset.hpp>
#include <pinion/data/batch.hpp>
#include <pinion/data/cache.hpp>
#include <pinion/data/cursor.hpp>
#include <pinion/data/map.hpp>
#include <pinion/data/order.hpp>
#include <pinion/data/shuffle.hpp>
#include <pinion/data/threads.hpp>

namespace pinion { inline namespace v0 { namespace data {

struct any_dataset::shared {
  explicit shared(stage_ptr s) : last(std::move(s)) {}
  const stage_ptr last;
  std::atomic<std::uint64_t> passes{0};
};

namespace detail {

inline void need(bool given, const std::string& otherwise) {
  if (!given) throw error(errc::invalid_argument, otherwise);
}

// Makes a dataset by a stage whose cursor `open` makes from the stage before it.
template <class Open>
any_dataset then(const stage_ptr& from, Open open) {
  return any_dataset(
      make_stage([from, open = std::move(open)](const pass_options& pass) -> cursor_ptr { return open(*from, pass); }));
}

}  // namespace detail

PINION_DECL any_dataset::any_dataset(stage_ptr last) : shared_(std::make_shared<shared>(std::move(last))) {}

PINION_DECL any_pass any_dataset::iterate() const {
  return iterate(shared_->passes.fetch_add(1, std::memory_order_relaxed));
}

PINION_DECL any_pass any_dataset::iterate(std::uint64_t number) const {
  return any_pass(last()->open({number, {}}));
}

PINION_DECL any_dataset any_dataset::shuffle(std::int64_t buffer, std::uint64_t seed,
                                             bool reshuffle_each_iteration) const {
  detail::need(buffer > 0, "shuffle takes a buffer of at least one element, not " + std::to_string(buffer));
  return detail::then(last(), [=](const stage& from, const pass_options& pass) {
    const pass_options order{reshuffle_each_iteration ? pass.number : 0, pass.stop};
    return std::make_unique<shuffle_cursor>(from.open(pass), buffer, seed, order);
  });
}

PINION_DECL any_dataset any_dataset::batch(std::int64_t size, batch_options options) const {
  detail::need(size > 0, "batch takes a size of at least one element, not " + std::to_string(size));
  return detail::then(last(), [=](const stage& from, const pass_options& pass) {
    return std::make_unique<batch_cursor>(from.open(pass), size, options.drop_remainder);
  });
}

PINION_DECL any_dataset any_dataset::repeat(std::int64_t count) const {
  detail::need(count >= forever, "repeat takes a number of times, or data::forever, not " + std::to_string(count));
  return any_dataset(make_stage([from = last(), count](const pass_options& pass) -> cursor_ptr {
    return std::make_unique<repeat_cursor>(from, count, pass);
  }));
}

PINION_DECL any_dataset any_dataset::take(std::int64_t count) const {
  detail::need(count >= 0, "take takes a number of elements, not " + std::to_string(count));
  return stride(0, 1, count);
}

PINION_DECL any_dataset any_dataset::skip(std::int64_t count) const {
  detail::need(count >= 0, "skip takes a number of elements, not " + std::to_string(count));
  return stride(count, 1, stride_cursor::all);
}

PINION_DECL any_dataset any_dataset::shard(std::int64_t shards, std::int64_t index) const {
  detail::need(shards > 0 && index >= 0 && index < shards,
               "there is no shard " + std::to_string(index) + " of " + std::to_string(shards));
  return stride(index, shards, stride_cursor::all);
}

PINION_DECL any_dataset any_dataset::stride(std::int64_t first, std::int64_t of, std::int64_t most) const {
  return detail::then(last(), [=](const stage& from, const pass_options& pass) {
    return std::make_unique<stride_cursor>(from.open(pass), first, of, most, pass.stop);
  });
}

PINION_DECL any_dataset any_dataset::map(any_function f, map_options options) const {
  detail::need(options.parallel > 0, "map takes at least one thread, not " + std::to_string(options.parallel));
  return detail::then(
      last(), [f = std::move(f), n = options.parallel](const stage& from, const pass_options& pass) -> cursor_ptr {
        if (n > 1) return std::make_unique<parallel_map_cursor>(from, f, n, pass);
        return std::make_unique<map_cursor>(from.open(pass), f);
      });
}

PINION_DECL any_dataset any_dataset::filter(any_function keep) const {
  return detail::then(last(), [keep = std::move(keep)](const stage& from, const pass_options& pass) {
    return std::make_unique<filter_cursor>(from.open(pass), keep, pass.stop);
  });
}

PINION_DECL any_dataset any_dataset::prefetch(std::int64_t count) const {
  detail::need(count > 0, "prefetch takes at least one element, not " + std::to_string(count));
  return detail::then(last(), [=](const stage& from, const pass_options& pass) {
    return std::make_unique<prefetch_cursor>(from, static_cast<std::size_t>(count), pass);
  });
}

PINION_DECL any_dataset any_dataset::cache() const {
  return any_dataset(std::make_shared<cache_stage>(last()));
}

PINION_DECL const stage_ptr& any_dataset::last() const {
  return shared_->last;
}

}}}  // namespace pinion::v0::data
