// Loops over many items inside one kernel, split over the threads of the task.
#pragma once

#include <algorithm>
#include <cstdint>

#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 {

// A reference to a callable of (first, last). It erases the callable's type, so that in_ranges is compiled once.
class range_body {
 public:
  template <class F>
  range_body(const F& body)
      : body_(&body),
        call_([](const void* f, std::int64_t first, std::int64_t last) { (*static_cast<const F*>(f))(first, last); }) {}
  void operator()(std::int64_t first, std::int64_t last) const { call_(body_, first, last); }

 private:
  const void* body_;
  void (*call_)(const void*, std::int64_t, std::int64_t);
};

// Calls body(first, last) for ranges that together make up [0, items), each of about 2^15 elements. Launched bodies
// call it.
//
// `item_size` is the number of elements, or the work in elements that are copied, of one item. Ranges are cut by the
// sizes alone, so that results do not depend on the number of threads.
//
//   in_ranges(*services, rows, columns, [&](std::int64_t first, std::int64_t last) { ... });     // rows [first, last)
inline void in_ranges(task_services& services, std::int64_t items, std::int64_t item_size, range_body body) {
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / std::max<std::int64_t>(1, item_size));
  kernel_context::in_chunks(services, (items + grain - 1) / grain,
                            [&](std::int64_t i) { body(i * grain, std::min(items, (i + 1) * grain)); });
}

}}  // namespace pinion::v0
