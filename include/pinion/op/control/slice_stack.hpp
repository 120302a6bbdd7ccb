// The values that a loop keeps of its iterations, one behind the other in one block of memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <pinion/base/error.hpp>
#include <pinion/op/slice/cpu.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// A stack of tensors of one shape, which becomes one tensor with an axis more. A value; it refers to the allocator. The
// block is made with the first slice: of the number of iterations where that is known, and growing by doubling
// otherwise.
class slice_stack {
 public:
  // `iterations` is the number of slices to come, or -1. With `reversed`, which requires that it is known, the first
  // slice comes last.
  slice_stack(pinion::dtype type, std::int64_t iterations, bool reversed, allocator& memory)
      : type_(type), iterations_(iterations), reversed_(reversed), memory_(&memory) {}

  // Copies a slice to its place. Throws invalid_argument for another shape than that of the first slice.
  void push(const any_tensor& slice) { push(slice.shape(), slice.raw()); }
  void push(const shape& extent, const void* elements) {
    if (count_ == 0) each_ = extent;
    if (!(extent == each_))
      throw error(errc::invalid_argument, "a value of a loop is kept for its gradient, and has shape " +
                                              to_string(each_) + " in one iteration and " + to_string(extent) +
                                              " in another; a loop is differentiated only where shapes stay");
    if (count_ == room_) grow();
    copy(elements, 1, block_, reversed_ ? iterations_ - 1 - count_ : count_);
    ++count_;
  }
  // The stack as one tensor. `declared` is the shape of a slice where there was none; its unknown extents become 0.
  any_tensor whole(const shape& declared) {
    if (count_ > 0) return {type_, stacked(count_, each_), block_.storage()};
    shape none;
    for (const std::int64_t n : declared.dims()) none.push_back(std::max<std::int64_t>(0, n));
    return {type_, stacked(0, none), *memory_};
  }

 private:
  static shape stacked(std::int64_t slices, const shape& each) {
    shape all{slices};
    for (const std::int64_t n : each.dims()) all.push_back(n);
    return all;
  }
  void grow() {
    room_ = iterations_ >= 0 ? iterations_ : std::max<std::int64_t>(8, 2 * room_);
    any_tensor larger(type_, stacked(room_, each_), *memory_);
    if (count_ > 0) copy(block_.raw(), count_, larger, 0);
    block_ = std::move(larger);
  }
  void copy(const void* from, std::int64_t slices, any_tensor& to, std::int64_t at) const {
    const std::int64_t n = each_.count();
    visit_element(type_, [&]<class Element>() {
      std::copy_n(static_cast<const Element*>(from), slices * n, static_cast<Element*>(to.raw()) + at * n);
    });
  }

  pinion::dtype type_;
  std::int64_t iterations_;
  bool reversed_;
  allocator* memory_;
  shape each_;
  any_tensor block_;
  std::int64_t room_ = 0, count_ = 0;
};

}}}}  // namespace pinion::v0::op::detail
