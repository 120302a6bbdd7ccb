// The configuration of the file formats: it tells which libraries they can use. The formats include it before all
// others.
#pragma once

#include <pinion/base/config.hpp>

// True if nlohmann-json, or zlib, is available. The build tells it; otherwise it is found out here. zlib must be
// linked, so only a build can tell that it is there.
#if !defined(PINION_HAS_JSON)
#if __has_include(<nlohmann/json.hpp>)
#define PINION_HAS_JSON 1
#else
#define PINION_HAS_JSON 0
#endif
#endif
#if !defined(PINION_HAS_ZLIB)
#define PINION_HAS_ZLIB 0
#endif
