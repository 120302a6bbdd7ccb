// expect: no matching
// An error has a code and a sentence.
#include <pinion/base/error.hpp>

#ifdef ACCEPT
pinion::error fine{pinion::errc::not_found, "there is no device /gpu:7"};
#else
pinion::error bare{pinion::errc::not_found};
#endif
