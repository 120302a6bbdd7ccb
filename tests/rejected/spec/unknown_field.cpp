// expect: unknown_field
// expect: unknown field; write job:J, replica:N, task:N
// A device string with a field that no device has.
#include <pinion/spec/device_spec.hpp>

#ifdef ACCEPT
constexpr pinion::device_spec spec = pinion::parse_device("/job:ps/task:1");
#else
constexpr pinion::device_spec spec = pinion::parse_device("/job:ps/bar:1");
#endif
