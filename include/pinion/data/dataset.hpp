// Input for training: elements from somewhere, transformed on the way, batch by batch.
//
//   auto digits = data::from_tensors(images, labels).shuffle(60000, 1).batch(50).prefetch(2);
//   for (auto& [x, y] : digits) step(x, y);  // one epoch
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

#include <pinion/base/dtype.hpp>
#include <pinion/data/any_dataset.hpp>
#include <pinion/data/apply.hpp>
#include <pinion/data/pass.hpp>

namespace pinion { inline namespace v0 { namespace data {

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

  explicit dataset(any_dataset all) : all_(std::move(all)) {}
  explicit dataset(stage_ptr last) : dataset(any_dataset(std::move(last))) {}  // whose elements have these types

  // The next pass, or one by its number (to go on where an earlier run stopped).
  pass<Ts...> iterate() const { return pass<Ts...>(all_.iterate()); }
  pass<Ts...> iterate(std::uint64_t number) const { return pass<Ts...>(all_.iterate(number)); }

  // A pass of its own for a loop: for (auto& [x, y] : dataset).
  class iterator {
   public:
    explicit iterator(pass<Ts...> all) : pass_(std::move(all)) { ++*this; }
    value_type& operator*() const { return *now_; }
    iterator& operator++() {
      now_ = pass_.next();
      return *this;
    }
    friend bool operator==(const iterator& i, std::default_sentinel_t) { return !i.now_; }

   private:
    pass<Ts...> pass_;
    mutable std::optional<value_type> now_;
  };
  iterator begin() const { return iterator(iterate()); }
  std::default_sentinel_t end() const { return {}; }

  // Takes a random one of `buffer` elements at a time, then fills its place: a uniform order where the buffer holds
  // all. Each pass, and each repetition in it, has an order of its own, unless reshuffle_each_iteration is false.
  dataset shuffle(std::int64_t buffer, std::uint64_t seed = 0, bool reshuffle_each_iteration = true) const {
    return dataset(all_.shuffle(buffer, seed, reshuffle_each_iteration));
  }
  // `size` elements along a new first dimension; the last batch may be smaller. Elements of a batch have equal shapes.
  dataset batch(std::int64_t size, batch_options options = {}) const { return dataset(all_.batch(size, options)); }
  // Again and again, `count` times or for ever. Ends after a repetition without elements.
  dataset repeat(std::int64_t count = forever) const { return dataset(all_.repeat(count)); }
  dataset take(std::int64_t count) const { return dataset(all_.take(count)); }
  dataset skip(std::int64_t count) const { return dataset(all_.skip(count)); }
  // Elements index, index + shards, ...: one worker's share. Where shards must not overlap, shuffle after it, or with
  // one seed in all workers.
  dataset shard(std::int64_t shards, std::int64_t index) const { return dataset(all_.shard(shards, index)); }

  // f(tensor, ...) for each element; what it returns (a tensor, a number, a tuple of such) is the new element, of other
  // types perhaps. With parallel > 1, in that many threads; the order stays.
  template <class F>
  auto map(F f, map_options options = {}) const {
    static_assert(element_function<F, Ts...>,
                  "map takes a function of this dataset's tensors, callable as const (not a mutable lambda), that "
                  "returns a tensor, an element, or a tuple of them");
    return of(all_.map(mapping<Ts...>(std::move(f)), options), std::type_identity<mapped_element<F, Ts...>>{});
  }
  // The elements for which keep(tensor, ...) is true.
  template <class F>
  dataset filter(F keep) const {
    static_assert(std::is_invocable_r_v<bool, const F&, const tensor<Ts>&...>,
                  "filter takes a function of this dataset's tensors, callable as const, that returns a bool");
    return dataset(all_.filter(filtering<Ts...>(std::move(keep))));
  }
  // Made ahead by a thread of the pass, up to `count` elements.
  dataset prefetch(std::int64_t count) const { return dataset(all_.prefetch(count)); }
  // The first pass that comes to its end is kept in memory, for this dataset and all made from it; a shuffle before it
  // is therefore frozen.
  dataset cache() const { return dataset(all_.cache()); }

  const stage_ptr& last() const { return all_.last(); }  // for those who add a stage

 private:
  template <element... Us>
  static dataset<Us...> of(any_dataset all, std::type_identity<element_of<Us...>>) {
    return dataset<Us...>(std::move(all));
  }

  any_dataset all_;
};

}}}  // namespace pinion::v0::data
