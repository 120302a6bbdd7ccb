// expect within 5 of 15: the element types are float, double, std::int32_t, std::int64_t, std::uint8_t, bool and std::string
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
