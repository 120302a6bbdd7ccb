// expect: bad_job_name
// expect: bad job name; a letter, then letters, digits
// A job name begins with a letter.
#include <pinion/spec/device_spec.hpp>

#ifdef ACCEPT
constexpr pinion::device_spec spec = pinion::parse_device("/job:a1");
#else
constexpr pinion::device_spec spec = pinion::parse_device("/job:1a");
#endif
