// expect: indices are int or std::int64_t; pn::cast<int>(x) converts
// Rows of a variable at indices that were computed in floats.
#include <pinion/graph.hpp>
#include <pinion/op/rows/functions.hpp>

auto counted(const pinion::variable_handle<float>& counts, pinion::expr<float> rows) {
#ifdef ACCEPT
  return scatter_add(counts, pinion::cast<int>(rows), 1.0f);
#else
  return scatter_add(counts, rows, 1.0f);
#endif
}
