// The part of pinion::compiled that holds what <pinion/runtime/direct_session.hpp> leaves out. Every session links it, so
// it fills the scheme pinion:// too.
#define PINION_DEFINE_RUNTIME 1
#include <pinion/runtime/direct_session.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/sessions.hpp>
#endif
