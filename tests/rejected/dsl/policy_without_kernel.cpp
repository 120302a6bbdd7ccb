// expect: this op has no kernel on this device type
// A table of ops and places is checked row by row.
#include <pinion/graph.hpp>

#ifdef ACCEPT
pinion::by_op<pinion::when<pinion::op::in_top_k, "/cpu:0">> policy;
#else
pinion::by_op<pinion::when<pinion::op::in_top_k, "/gpu:0">> policy;
#endif
