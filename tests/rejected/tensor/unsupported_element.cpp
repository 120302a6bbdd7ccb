// expect within 5 of 15: the element types are float, double, std::int32_t, std::int64_t, std::uint8_t, bool and std::string
// A tensor of a type that no element has.
#include <pinion/graph.hpp>

#ifdef ACCEPT
pinion::tensor<double> value;
#else
pinion::tensor<long double> value;
#endif
