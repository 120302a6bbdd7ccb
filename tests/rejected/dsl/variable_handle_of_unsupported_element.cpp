// expect within 5 of 15: the element types are float, double, std::int32_t, std::int64_t, std::uint8_t, bool and std::string
// A handle of a variable of a type that no element has.
#include <pinion/graph.hpp>

#ifdef ACCEPT
pinion::variable_handle<double> value;
#else
pinion::variable_handle<long double> value;
#endif
