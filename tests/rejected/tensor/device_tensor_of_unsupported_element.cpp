// expect within 5 of 15: the element types are float, double, integers of 8 to 64 bits, bool, std::string, pn::half and pn::bfloat16
// A tensor on a device, of a type that no element has.
#include <pinion/session.hpp>

#ifdef ACCEPT
pinion::device_tensor<double>* value;
#else
pinion::device_tensor<long double>* value;
#endif
