// Bodies of <pinion/runtime/step/wrong_values.hpp>.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include <pinion/runtime/step/gpu_words.hpp>
#include <pinion/runtime/step/wrong_values.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL cuda::first_wrong* wrong_values::expect(devices::device& on, step_watch::describe_wrong describe) {
  static_assert(sizeof(cuda::first_wrong) == 2 * sizeof(std::int64_t));
  if (blocks_.empty() || blocks_.back().describe.size() >= in_a_block) {
    const any_tensor none(dtype::int64, {std::int64_t{in_a_block}, 2});
    std::fill_n(none.data<std::int64_t>(), none.count(), std::int64_t{-1});
    blocks_.push_back({on.from_host(none), {}});
  }
  block& last = blocks_.back();
  last.describe.push_back(std::move(describe));
  return static_cast<cuda::first_wrong*>(last.places.raw()) + (last.describe.size() - 1);
}

PINION_DECL cuda::wrong_places wrong_values::so_far(devices::device& on) {
  if (blocks_.empty()) return {};
  if (blocks_.size() == 1) return places_of(blocks_[0]);
  sums_.emplace_back(dtype::int64, shape{1, 2}, on.memory());
  auto* const sum = static_cast<cuda::first_wrong*>(sums_.back().raw());
  detail::clear_places(on, sum, 1);
  for (const block& b : blocks_) detail::note_any_wrong(on, sum, places_of(b));
  return {sum, 1};
}

PINION_DECL cuda::wrong_places wrong_values::places_of(const block& b) {
  return {static_cast<const cuda::first_wrong*>(b.places.raw()),
          std::min(static_cast<unsigned long long>(b.places.shape()[0]),
                   static_cast<unsigned long long>(b.describe.size()))};
}

PINION_DECL void wrong_values::add(const any_tensor& places, std::vector<step_watch::describe_wrong> describe) {
  describe.resize(std::max(describe.size(), in_a_block));  // so that no kernel gets a place of this block
  blocks_.push_back({places, std::move(describe)});
}

PINION_DECL void wrong_values::look(devices::device& on, completion<> done) {
  struct looking {
    std::vector<block> blocks;
    completion<> done;
    shared_error first;
  };
  const auto all = std::make_shared<looking>(looking{std::move(blocks_), std::move(done), nullptr});
  // Callbacks of a device come in order, so the last one ends it.
  for (std::size_t b = 0; b < all->blocks.size(); ++b)
    on.to_host(all->blocks[b].places, [all, b](outcome<any_tensor> copied) {
      const auto looked =
          std::move(copied).then([&](const any_tensor& copy) { expect_none(copy, all->blocks[b].describe); });
      if (!all->first) all->first = looked.failure();
      if (b + 1 == all->blocks.size()) all->done(outcome<>(all->first));
    });
}

PINION_DECL void wrong_values::expect_none(const any_tensor& copy,
                                           const std::vector<step_watch::describe_wrong>& describe) {
  const std::int64_t* at = copy.data<std::int64_t>();
  for (std::int64_t i = 0; i < copy.shape()[0]; ++i, at += 2)
    if (at[0] != -1) throw describe[static_cast<std::size_t>(i)](at[0], at[1]);
}

}}}  // namespace pinion::v0::runtime
