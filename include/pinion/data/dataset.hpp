// Input for training: elements from somewhere, transformed on the way, batch by batch.
//
//   auto digits = data::from_tensors(images, labels).shuffle(60000, 1).batch(50).prefetch(2);
//   for (auto& [x, y] : digits) step(x, y);  // one epoch
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <pinion/base/error.hpp>
#include <pinion/data/apply.hpp>
#include <pinion/data/batch.hpp>
#include <pinion/data/cache.hpp>
#include <pinion/data/order.hpp>
#include <pinion/data/pass.hpp>
#include <pinion/data/shuffle.hpp>
#include <pinion/data/threads.hpp>

namespace pinion::inline v0::data {

inline constexpr std::int64_t forever = -1;

struct map_options {
  int parallel = 1;  // elements worked on at a time, each on a thread of the pass
};

// The description of a sequence of elements, each a tuple of tensors; a value, cheap to copy. Nothing runs until a pass
// is opened, by iterate() or a loop. The members make new datasets and leave this one as it is.
//
// Passes are numbered from 0 for each dataset and its copies. The same pass of the same description gives the same
// elements in the same order, whatever the threads; a shuffle goes by the number, so each pass has an order of its own.
//
// Thread-safe. A function that is given runs in the thread that asks for the element, or in threads of the pass below a
// prefetch or in a parallel map; it is shared by all passes, so it must be callable as const, and where several threads
// or passes call it, thread-safe.
//
// A bad argument is invalid_argument. Exceptions during a pass: see pass.
template <class... Ts>
requires(pinion::detail::are_elements<Ts...>(PINION_ELEMENT_TYPES)) class dataset {
 public:
  using value_type = element_of<Ts...>;

  explicit dataset(stage_ptr<Ts...> last) : shared_(std::make_shared<shared>(std::move(last))) {}

  // The next pass, or one by its number (to go on where an earlier run stopped).
  pass<Ts...> iterate() const { return iterate(shared_->passes.fetch_add(1, std::memory_order_relaxed)); }
  pass<Ts...> iterate(std::uint64_t number) const { return pass<Ts...>(shared_->last->open({number, {}})); }

  // A pass of its own for a loop: for (auto& [x, y] : dataset).
  class iterator {
   public:
    explicit iterator(pass<Ts...> all) : pass_(std::make_unique<pass<Ts...>>(std::move(all))), at_(pass_->begin()) {}
    value_type& operator*() const { return *at_; }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    friend bool operator==(const iterator& i, std::default_sentinel_t end) { return i.at_ == end; }

   private:
    std::unique_ptr<pass<Ts...>> pass_;
    typename pass<Ts...>::iterator at_;
  };
  iterator begin() const { return iterator(iterate()); }
  std::default_sentinel_t end() const { return {}; }

  // Takes a random one of `buffer` elements at a time, then fills its place: a uniform order where the buffer holds
  // all. Each pass, and each repetition in it, has an order of its own, unless reshuffle_each_iteration is false.
  dataset shuffle(std::int64_t buffer, std::uint64_t seed = 0, bool reshuffle_each_iteration = true) const {
    need(buffer > 0, "shuffle takes a buffer of at least one element, not " + std::to_string(buffer));
    return then([=](const stage<Ts...>& from, const pass_options& p) {
      const pass_options order{reshuffle_each_iteration ? p.number : 0, p.stop};
      return std::make_unique<shuffle_cursor<Ts...>>(from.open(p), buffer, seed, order);
    });
  }
  // `size` elements along a new first dimension; the last batch may be smaller. Elements of a batch have equal shapes.
  dataset batch(std::int64_t size, batch_options options = {}) const {
    need(size > 0, "batch takes a size of at least one element, not " + std::to_string(size));
    return then([=](const stage<Ts...>& from, const pass_options& p) {
      return std::make_unique<batch_cursor<Ts...>>(from.open(p), size, options);
    });
  }
  // Again and again, `count` times or for ever. Ends after a repetition without elements.
  dataset repeat(std::int64_t count = forever) const {
    need(count >= forever, "repeat takes a number of times, or data::forever, not " + std::to_string(count));
    return dataset(make_stage<Ts...>([from = shared_->last, count](const pass_options& p) -> cursor_ptr<Ts...> {
      return std::make_unique<repeat_cursor<Ts...>>(from, count, p);
    }));
  }
  dataset take(std::int64_t count) const {
    need(count >= 0, "take takes a number of elements, not " + std::to_string(count));
    return stride(0, 1, count);
  }
  dataset skip(std::int64_t count) const {
    need(count >= 0, "skip takes a number of elements, not " + std::to_string(count));
    return stride(count, 1, stride_cursor<Ts...>::all);
  }
  // Elements index, index + shards, ...: one worker's share. Where shards must not overlap, shuffle after it, or with
  // one seed in all workers.
  dataset shard(std::int64_t shards, std::int64_t index) const {
    need(shards > 0 && index >= 0 && index < shards,
         "there is no shard " + std::to_string(index) + " of " + std::to_string(shards));
    return stride(index, shards, stride_cursor<Ts...>::all);
  }

  // f(tensor, ...) for each element; what it returns (a tensor, a number, a tuple of such) is the new element, of other
  // types perhaps. With parallel > 1, in that many threads; the order stays.
  template <class F>
  auto map(F f, map_options options = {}) const {
    static_assert(element_function<F, Ts...>,
                  "map takes a function of this dataset's tensors, callable as const (not a mutable lambda), that "
                  "returns a tensor, an element, or a tuple of them");
    need(options.parallel > 0, "map takes at least one thread, not " + std::to_string(options.parallel));
    return mapped<F>(std::move(f), options, std::type_identity<mapped_element<F, Ts...>>{});
  }
  // The elements for which keep(tensor, ...) is true.
  template <class F>
  dataset filter(F keep) const {
    static_assert(std::is_invocable_r_v<bool, const F&, const tensor<Ts>&...>,
                  "filter takes a function of this dataset's tensors, callable as const, that returns a bool");
    auto shared_keep = std::make_shared<const F>(std::move(keep));
    return then([shared_keep](const stage<Ts...>& from, const pass_options& p) {
      return std::make_unique<filter_cursor<F, Ts...>>(from.open(p), shared_keep, p.stop);
    });
  }
  // Made ahead by a thread of the pass, up to `count` elements.
  dataset prefetch(std::int64_t count) const {
    need(count > 0, "prefetch takes at least one element, not " + std::to_string(count));
    return then([=](const stage<Ts...>& from, const pass_options& p) {
      return std::make_unique<prefetch_cursor<Ts...>>(from, static_cast<std::size_t>(count), p);
    });
  }
  // The first pass that comes to its end is kept in memory, for this dataset and all made from it; a shuffle before it
  // is therefore frozen.
  dataset cache() const { return dataset(std::make_shared<cache_stage<Ts...>>(shared_->last)); }

  const stage_ptr<Ts...>& last() const { return shared_->last; }  // for those who add a stage

 private:
  struct shared {
    explicit shared(stage_ptr<Ts...> s) : last(std::move(s)) {}
    const stage_ptr<Ts...> last;
    std::atomic<std::uint64_t> passes{0};
  };

  static void need(bool given, const std::string& otherwise) {
    if (!given) throw error(errc::invalid_argument, otherwise);
  }
  template <class Open>
  dataset then(Open open) const {
    return dataset(make_stage<Ts...>([from = shared_->last, open = std::move(open)](
                                         const pass_options& p) -> cursor_ptr<Ts...> { return open(*from, p); }));
  }
  dataset stride(std::int64_t first, std::int64_t of, std::int64_t most) const {
    return then([=](const stage<Ts...>& from, const pass_options& p) {
      return std::make_unique<stride_cursor<Ts...>>(from.open(p), first, of, most, p.stop);
    });
  }
  template <class F, element... Us>
  dataset<Us...> mapped(F f, map_options options, std::type_identity<element_of<Us...>>) const {
    using from_types = std::tuple<Ts...>;
    auto shared_f = std::make_shared<const F>(std::move(f));
    return dataset<Us...>(make_stage<Us...>(
        [from = shared_->last, shared_f, n = options.parallel](const pass_options& p) -> cursor_ptr<Us...> {
          if (n > 1) return std::make_unique<parallel_map_cursor<F, from_types, Us...>>(*from, shared_f, n, p);
          return std::make_unique<map_cursor<F, from_types, Us...>>(from->open(p), shared_f);
        }));
  }

  std::shared_ptr<shared> shared_;
};

}  // namespace pinion::inline v0::data
