// expect: number_out_of_range
// expect: number out of range; write a number from 0 to 2147483647
// A task index that no int can hold.
#include <pinion/spec/place.hpp>

#ifdef ACCEPT
constexpr auto place = pinion::at<"/job:ps/task:2147483647">;
#else
constexpr auto place = pinion::at<"/job:ps/task:99999999999">;
#endif
