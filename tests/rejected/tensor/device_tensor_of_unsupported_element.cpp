// expect within 5 of 15: the element types are float, double, std::int32_t, std::int64_t, std::uint8_t, bool and std::string
// A tensor on a device, of a type that no element has.
#include <pinion/session.hpp>

#ifdef ACCEPT
pinion::device_tensor<double>* value;
#else
pinion::device_tensor<long double>* value;
#endif
