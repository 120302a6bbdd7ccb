// Datasets: the input of training. Elements come from a source, are transformed on the way, and leave batch by batch.
//
//   auto digits = data::from_tensors(images, labels).shuffle(60000, 1).batch(50).prefetch(2);
//   for (auto& [x, y] : digits) step(x, y);  // one epoch
//
// Sources are in sources.hpp and csv.hpp; tr::to_device copies the elements of a dataset to a device ahead of the
// steps.
//
//   from_tensors(a, b)     rows of tensors              shuffle(n, seed)    a random order out of a buffer of n
//   range(n)               numbers                      batch(n)            n elements as one
//   from_generator(f)      what a function returns      repeat(n)           n times, or without end
//   csv<Ts...>(path)       rows of a file               take(n), skip(n)    the first n, all but the first n
//   zip(a, b)              two datasets side by side    shard(n, i)         one worker's share
//                                                       map(f), filter(f)   a function of each element
//                                                       prefetch(n)         made ahead by a thread
//                                                       cache()             kept after the first pass
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

// The description of a sequence of elements, each of them a tuple of tensors. A value that is cheap to copy; it shares
// its stages and the tensors of its source. Nothing runs until a pass is opened, by iterate() or by a loop. The members
// below make new datasets and leave this one as it is.
//
// Order. The passes of a dataset and its copies are numbered from 0. A pass of one number gives the same elements in
// the same order each time, whatever its threads do. Shuffles derive their order from the number, so that each pass has
// an order of its own.
//
// Threads. Several threads may use one dataset. A function that is given to it runs in the thread that asks for the
// element, or in a thread of the pass below a prefetch or in a parallel map. All passes share the function: it must be
// callable as const and, if several threads or passes call it, thread-safe.
//
// Errors. A bad argument throws invalid_argument. An exception during a pass comes out of its next(); see pass. A chain
// is read from left to right, from the source to the training loop, and the usual order is: source, cache, shuffle,
// repeat, map, batch, prefetch. Shuffling before batching mixes elements; shuffling behind it mixes whole batches.
//
//   auto [images, labels] = load();                                        // [60000, 784], [60000]
//   const auto digits = data::from_tensors(images, labels).shuffle(60000, 1).batch(50);
//   for (int epoch = 0; epoch < 10; ++epoch)
//     for (auto& [x, y] : digits) sess.run({{X, x}, {Y, y}}, train);     // each epoch in an order of its own
//
// A dataset that is made anew for each epoch begins with pass 0 each time: its epochs have one order.
template <class... Ts>
requires(pinion::detail::are_elements<Ts...>(PINION_ELEMENT_TYPES)) class dataset {
 public:
  // An element: a tuple with one tensor for each component.
  using value_type = element_of<Ts...>;

  explicit dataset(any_dataset all) : all_(std::move(all)) {}
  // Requires: the elements of the stage have these types.
  explicit dataset(stage_ptr last) : dataset(any_dataset(std::move(last))) {}

  // Opens the next pass, or the pass of a number: to go on where an earlier run stopped, say.
  pass<Ts...> iterate() const { return pass<Ts...>(all_.iterate()); }
  pass<Ts...> iterate(std::uint64_t number) const { return pass<Ts...>(all_.iterate(number)); }

  // An iterator that owns a pass of its own, for a loop: for (auto& [x, y] : dataset).
  class iterator {
   public:
    // Takes the first element at once.
    explicit iterator(pass<Ts...> all) : pass_(std::move(all)) { ++*this; }
    // The element; it may be changed or moved out. Requires: the end is not reached.
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
  // Opens a pass for a loop.
  iterator begin() const { return iterator(iterate()); }
  std::default_sentinel_t end() const { return {}; }

  // Shuffles: takes a random element out of a buffer of `buffer` elements, then fills its place with the next. The
  // order is uniform if the buffer holds all elements. It keeps that many elements in memory, or only their numbers
  // where they are rows of a table. Each pass, and each repetition in it, has an order of its own, unless
  // reshuffle_each_iteration is false: make the shuffle once, before the loop over epochs. One seed gives one order on
  // every machine. Throws invalid_argument for a buffer below 1.
  dataset shuffle(std::int64_t buffer, std::uint64_t seed = 0, bool reshuffle_each_iteration = true) const {
    return dataset(all_.shuffle(buffer, seed, reshuffle_each_iteration));
  }
  // Stacks each `size` elements along a new first dimension: elements of shape [a, b] become a batch [size, a, b]. The
  // last batch may be smaller. Elements of one batch have equal shapes; else the pass throws invalid_argument. Throws
  // invalid_argument if size < 1.
  //
  //   digits.batch(50)                            // [50, 784] and [50]; the last one has what is left
  //   digits.batch(50, {.drop_remainder = true})  // every batch has 50 elements
  dataset batch(std::int64_t size, batch_options options = {}) const { return dataset(all_.batch(size, options)); }
  // Repeats the elements `count` times, or without end. It ends after a repetition that had no elements. A shuffle
  // before it gives each repetition an order of its own. Throws invalid_argument for other negative counts. A count of
  // 0 has no elements.
  dataset repeat(std::int64_t count = forever) const { return dataset(all_.repeat(count)); }
  // The first `count` elements, or all where there are fewer. Throws invalid_argument if count < 0.
  dataset take(std::int64_t count) const { return dataset(all_.take(count)); }
  // All elements but the first `count`. Throws invalid_argument if count < 0.
  dataset skip(std::int64_t count) const { return dataset(all_.skip(count)); }
  // The elements index, index + shards, index + 2 shards, ...: one worker's share. So that shards do not overlap,
  // shuffle after it, or shuffle before it with one seed in all workers. Throws invalid_argument for an index that is
  // not in [0, shards).
  //
  //   digits.shard(num_workers, task).shuffle(10000, seed).batch(50)
  dataset shard(std::int64_t shards, std::int64_t index) const { return dataset(all_.shard(shards, index)); }

  // Replaces each element by f(tensor, ...): a tensor, a number, or a tuple of these, possibly of other types. With
  // parallel > 1, that many threads call f; the order of the elements stays. Throws invalid_argument for a number of
  // threads below 1.
  //
  //   auto scaled = digits.map([](pn::tensor<std::uint8_t> x, pn::tensor<int> y) { return std::tuple{scale(x), y}; },
  //                            {.parallel = 4});
  template <class F>
  auto map(F f, map_options options = {}) const {
    static_assert(element_function<F, Ts...>,
                  "map takes a function of this dataset's tensors, callable as const (not a mutable lambda), that "
                  "returns a tensor, an element, or a tuple of them");
    return of(all_.map(mapping<Ts...>(std::move(f)), options), std::type_identity<mapped_element<F, Ts...>>{});
  }
  // Keeps the elements for which keep(tensor, ...) returns true. It runs in the thread that asks for the element.
  //
  //   digits.filter([](const pn::tensor<float>&, const pn::tensor<int>& y) { return int(y) < 5; })
  template <class F>
  dataset filter(F keep) const {
    static_assert(std::is_invocable_r_v<bool, const F&, const tensor<Ts>&...>,
                  "filter takes a function of this dataset's tensors, callable as const, that returns a bool");
    return dataset(all_.filter(filtering<Ts...>(std::move(keep))));
  }
  // Makes up to `count` elements ahead, in a thread of the pass, so that a step and the making of its input overlap. It
  // belongs at the end of the chain. Throws invalid_argument if count < 1. Two elements suffice where a step takes
  // longer than its input.
  dataset prefetch(std::int64_t count) const { return dataset(all_.prefetch(count)); }
  // Keeps the elements of the first complete pass in memory, for this dataset and for all that are made from it. The
  // order of a shuffle before it stays fixed from then on. It belongs behind transformations that are slow, and before
  // a shuffle. The elements stay in host memory, those of the whole data set.
  dataset cache() const { return dataset(all_.cache()); }

  const stage_ptr& last() const { return all_.last(); }  // the last stage, for a caller that adds another one behind it

 private:
  template <element... Us>
  static dataset<Us...> of(any_dataset all, std::type_identity<element_of<Us...>>) {
    return dataset<Us...>(std::move(all));
  }

  any_dataset all_;
};

}}}  // namespace pinion::v0::data
