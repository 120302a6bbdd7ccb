// expect: index_without_type
// expect: index without a type; write device:TYPE:N, or device:*:* for any
// A number counts the devices of one type.
#include <pinion/spec/place.hpp>

#ifdef ACCEPT
constexpr auto place = pinion::at<"/job:ps/device:*:*">;
#else
constexpr auto place = pinion::at<"/job:ps/device:*:0">;
#endif
