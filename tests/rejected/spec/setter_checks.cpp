// expect: number_out_of_range
// expect: number out of range; 0 to 2147483647, or -1 to unset it
// A setter in a constant expression is checked like a string.
#include <pinion/spec/device_spec.hpp>

#ifdef ACCEPT
constexpr auto spec = pinion::device_spec{}.with_task(1);
#else
constexpr auto spec = pinion::device_spec{}.with_task(-2);
#endif
