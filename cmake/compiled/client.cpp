// The part of pinion::compiled that holds the bodies of clients of a cluster.
#include <pinion/base/config.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/client/remote_partial_run.ipp>
#include <pinion/distributed/client/remote_session.ipp>
#include <pinion/distributed/client/session_port.ipp>
#include <pinion/distributed/client/sessions.ipp>
#include <pinion/distributed/client/stop_request.ipp>
#endif
