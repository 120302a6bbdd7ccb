// A dataset whose elements have no types: what stands below the surface of one whose elements have.
#pragma once

#include <cstdint>
#include <memory>

#include <pinion/base/config.hpp>
#include <pinion/data/apply.hpp>
#include <pinion/data/forward.hpp>
#include <pinion/data/pass.hpp>

namespace pinion { inline namespace v0 { namespace data {

inline constexpr std::int64_t forever = -1;

struct batch_options {
  bool drop_remainder = false;  // leave out what does not fill a batch at the end
};

struct map_options {
  int parallel = 1;  // elements worked on at a time, each on a thread of the pass
};

// The members do what those of dataset do. A value; copies count their passes together. Thread-safe.
class any_dataset {
 public:
  explicit any_dataset(stage_ptr last);

  any_pass iterate() const;
  any_pass iterate(std::uint64_t number) const;

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

  const stage_ptr& last() const;

 private:
  struct shared;

  any_dataset stride(std::int64_t first, std::int64_t of, std::int64_t most) const;

  std::shared_ptr<shared> shared_;
};

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/any_dataset.ipp>
#endif
