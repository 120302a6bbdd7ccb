// expect: an index of slice_at is an integer, pn::range_of, pn::ellipsis or pn::new_axis; pn::gather takes tensors
// An index counts elements.
#include <pinion/graph.hpp>

auto middle(const pinion::expr<float>& x) {
#ifdef ACCEPT
  return pinion::slice_at(x, 0, 1);
#else
  return pinion::slice_at(x, 0, 1.5);
#endif
}
