// expect within 5 of 15: the element types are float, double, std::int32_t, std::int64_t, std::uint8_t, bool and std::string
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
