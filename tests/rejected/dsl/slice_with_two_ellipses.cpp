// expect: slice_at takes one pn::ellipsis: it stands for all axes that no other index takes
// Two of them could stand for any axes.
#include <pinion/graph.hpp>

auto middle_axis(const pinion::expr<float>& x) {
#ifdef ACCEPT
  return pinion::slice_at(x, pinion::ellipsis, 0);
#else
  return pinion::slice_at(x, pinion::ellipsis, 0, pinion::ellipsis);
#endif
}
