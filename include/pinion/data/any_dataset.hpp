// A dataset without the types of its elements: the implementation below dataset<Ts...>, compiled once for all types.
#pragma once

#include <cstdint>
#include <memory>

#include <pinion/base/config.hpp>
#include <pinion/data/apply.hpp>
#include <pinion/data/forward.hpp>
#include <pinion/data/pass.hpp>

namespace pinion { inline namespace v0 { namespace data {

// The count of repeat() that never ends. repeat() without an argument says so; end such a loop by take(), or by the
// number of steps.
inline constexpr std::int64_t forever = -1;

// The options of batch(). Fixed sizes suit graphs whose shapes are known in full.
struct batch_options {
  // true: elements at the end that do not fill a batch are left out; false: they make a smaller batch.
  bool drop_remainder = false;
};

// The options of map(). More threads pay for functions that take longer than the step, such as decoding images.
struct map_options {
  // The number of threads of the pass that work on elements at the same time; 1: the thread that asks for the element.
  int parallel = 1;
};

// The description of a sequence of elements, whose members do what those of dataset do. A value; copies share the
// counter that numbers their passes. Thread-safe. A bad argument throws invalid_argument. Programs use dataset<Ts...>,
// whose functions check types; code that handles datasets of unknown types uses this one.
class any_dataset {
 public:
  explicit any_dataset(stage_ptr last);

  // Opens a pass; see dataset::iterate.
  any_pass iterate() const;
  any_pass iterate(std::uint64_t number) const;

  // The transformations of dataset.
  any_dataset shuffle(std::int64_t buffer, std::uint64_t seed, bool reshuffle_each_iteration) const;
  any_dataset batch(std::int64_t size, batch_options options) const;
  any_dataset repeat(std::int64_t count) const;
  any_dataset take(std::int64_t count) const;
  any_dataset skip(std::int64_t count) const;
  any_dataset shard(std::int64_t shards, std::int64_t index) const;
  any_dataset map(any_function f, map_options options) const;
  any_dataset filter(any_function keep) const;
  any_dataset prefetch(std::int64_t count) const;
  any_dataset cache() const;

  // The last stage, for a caller that adds another one behind it.
  const stage_ptr& last() const;

 private:
  struct shared;

  // Takes one of every `of` elements from `first` on, `most` of them at most.
  any_dataset stride(std::int64_t first, std::int64_t of, std::int64_t most) const;

  std::shared_ptr<shared> shared_;
};

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/any_dataset.ipp>
#endif
