// The wrong values that CUDA kernels meet in a step, such as an index out of range.
#pragma once

#include <cstddef>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/device/device.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// The places on one device where kernels of a step leave wrong values. Owned by the step, used by one thread at a time.
class wrong_values {
 public:
  // A place that holds no wrong value yet. Requires: the device has a stream.
  cuda::first_wrong* expect(devices::device& on, step_watch::describe_wrong describe);
  // The places that were given so far; or where they lie in several blocks, one that has a wrong value if one of them
  // has at this point of the stream. It stays until the use of the places ends.
  cuda::wrong_places so_far(devices::device& on);
  // Adds places that kernels have used already. They are no tensor that somebody will write to.
  void add(const any_tensor& places, std::vector<step_watch::describe_wrong> describe);
  // Copies the places to the host and calls `done`, as to_host() calls back, with the error of the first kernel that
  // met a wrong value, or with success. Ends the use of the places. Requires: there are some.
  void look(devices::device& on, completion<> done);

 private:
  static constexpr std::size_t in_a_block = 256;
  struct block {
    any_tensor places;
    std::vector<step_watch::describe_wrong> describe;
  };
  static void expect_none(const any_tensor& copy, const std::vector<step_watch::describe_wrong>& describe);

  static cuda::wrong_places places_of(const block& b);

  std::vector<block> blocks_;
  std::vector<any_tensor> sums_;  // places for several blocks
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/wrong_values.ipp>
#endif
