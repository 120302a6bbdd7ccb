// expect within 5 of 15: the element types are float, double, integers of 8 to 64 bits, bool, std::string, pn::half and pn::bfloat16
// A handle of a variable of a type that no element has.
#include <pinion/graph.hpp>

#ifdef ACCEPT
pinion::variable_handle<double> value;
#else
pinion::variable_handle<long double> value;
#endif
