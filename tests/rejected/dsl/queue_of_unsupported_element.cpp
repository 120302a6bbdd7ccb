// expect within 5 of 15: the element types are float, double, integers of 8 to 64 bits, bool, std::string, pn::half and pn::bfloat16
// A queue of pairs, one of whose components is a struct.
#include <pinion/graph.hpp>

struct mine {
  float x;
};
#ifdef ACCEPT
pinion::fifo_queue<float, int>* value;
#else
pinion::fifo_queue<float, mine>* value;
#endif
