// Tensors in memory of the host that the system does not move, which GPUs copy by themselves.
#pragma once

#include <algorithm>
#include <cstddef>

#include <pinion/base/config.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 {

// A tensor whose elements are not set, in page-locked ("pinned") memory where a step of this process has used a GPU and
// there is room for it, and in ordinary memory otherwise, also for texts. A GPU copies the former at full speed, and
// while the host goes on. The system can use it for nothing else, so tensors take at most a gigabyte of it: it is for
// what is fed again and again, not for a whole dataset. Batches of datasets, and values fetched from GPUs, are in such
// memory of their own accord. Throws as any_tensor does.
any_tensor page_locked_tensor(dtype type, const shape& extent);

// A page_locked_tensor() with a type, whose elements are 0, false or "".
//
//   sess.run(pn::global_variables_initializer());           // on a GPU
//   auto images = pn::page_locked<float>({64, 784});
//   for (;;) {
//     read(images.span());
//     sess.run({{x, images}}, train);
//   }
template <class T>
tensor<T> page_locked(const shape& extent) {
  tensor<T> t(page_locked_tensor(dtype_of<T>, extent));
  std::fill_n(t.data(), t.size(), T{});
  return t;
}

namespace detail {

// Gives page-locked memory; null: there is none, or no more of it.
using page_locked_source = buffer* (*)(std::size_t bytes);
// Sets where it comes from, once the process uses GPUs.
void set_page_locked_source(page_locked_source from);

}  // namespace detail

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/tensor/page_locked.ipp>
#endif
