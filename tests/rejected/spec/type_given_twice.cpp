// expect: type_given_twice
// expect: type given twice; a device has one type
// A device has one type, also when both segments agree on it.
#include <pinion/spec/place.hpp>

#ifdef ACCEPT
constexpr auto place = pinion::at<"/job:ps/job:worker/gpu:0">;
#else
constexpr auto place = pinion::at<"/job:ps/cpu:0/cpu:0">;
#endif
