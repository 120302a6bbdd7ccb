// The part of pinion::compiled that holds what <pinion/files/*.hpp> and <pinion/runtime/timeline.hpp> leave out.
#define PINION_DEFINE_FILES 1
#include <pinion/files/idx.hpp>
#include <pinion/files/safetensors.hpp>
#include <pinion/runtime/timeline.hpp>
