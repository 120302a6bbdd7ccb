// The part of pinion::compiled that holds the bodies of the simulated network.
#include <pinion/base/config.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/rpc/sim/attempt.ipp>
#include <pinion/rpc/sim/connection.ipp>
#include <pinion/rpc/sim/listener.ipp>
#include <pinion/rpc/sim/sleeper.ipp>
#include <pinion/rpc/sim/stream.ipp>
#include <pinion/rpc/sim/timer.ipp>
#include <pinion/rpc/sim/world.ipp>
#include <pinion/rpc/sim_network.ipp>
#endif
