// expect: store it first
// A queue that nobody could ever fill.
#include <pinion/graph.hpp>

auto next() {
#ifdef ACCEPT
  auto q = pinion::fifo_queue<float>({.shapes = {{}}});
  return q.dequeue_many(2);
#else
  return pinion::fifo_queue<float>({.shapes = {{}}}).dequeue_many(2);
#endif
}
