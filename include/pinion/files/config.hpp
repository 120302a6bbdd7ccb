// The file formats include this header first: it answers which of the libraries they read with are there.
#pragma once

#include <pinion/base/config.hpp>

// Are nlohmann-json and zlib there? Answered by the build, or by looking; zlib must be linked, so only a build says
// yes.
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
