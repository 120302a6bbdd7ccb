// The part of pinion::compiled that holds what the headers of pinion/train/session leave out.
#define PINION_DEFINE_RUNTIME 1
#include <pinion/train/session/beginning.hpp>
#include <pinion/train/session/chief_sign.hpp>
#include <pinion/train/session/task_probe.hpp>
