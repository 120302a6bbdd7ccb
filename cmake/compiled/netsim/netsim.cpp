// The unit of pinion::netsim: the bodies of the simulated network.
#include <pinion/base/config.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/netsim/attempt.ipp>
#include <pinion/netsim/connection.ipp>
#include <pinion/netsim/listener.ipp>
#include <pinion/netsim/sim_network.ipp>
#include <pinion/netsim/sleeper.ipp>
#include <pinion/netsim/stream.ipp>
#include <pinion/netsim/timer.ipp>
#include <pinion/netsim/world.ipp>
#endif
