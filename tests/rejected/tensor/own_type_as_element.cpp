// expect within 5 of 15: the element types are float, double, integers of 8 to 64 bits, bool, std::string, pn::half and pn::bfloat16
// An expression of a struct.
#include <pinion/graph.hpp>

struct mine {
  float x;
};
#ifdef ACCEPT
pinion::expr<float> value;
#else
pinion::expr<mine> value;
#endif
