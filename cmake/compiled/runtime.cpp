// The part of pinion::compiled that holds what <pinion/runtime/direct_session.hpp> leaves out.
#define PINION_DEFINE_RUNTIME 1
#include <pinion/runtime/direct_session.hpp>
