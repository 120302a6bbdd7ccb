// expect: place_tag_type
// A spec is a value: only tags merge as types.
#include <pinion/spec/place.hpp>

#ifdef ACCEPT
using merged = pinion::merge_t<pinion::anywhere, decltype(pinion::at<"/gpu:0">)>;
#else
using merged = pinion::merge_t<pinion::anywhere, pinion::device_spec>;
#endif
