// expect: blank_in_string
// expect: blank in string; write device strings without blanks
// Device strings hold no blanks, also not at their ends.
#include <pinion/spec/place.hpp>

#ifdef ACCEPT
constexpr auto place = pinion::at<"/cpu:0">;
#else
constexpr auto place = pinion::at<"/cpu:0 ">;
#endif
