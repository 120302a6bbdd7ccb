// The part of pinion::compiled that holds what <pinion/distributed.hpp> leaves out.
#define PINION_DEFINE_RUNTIME 1
#include <pinion/base/config.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/remote_session.hpp>
#endif
