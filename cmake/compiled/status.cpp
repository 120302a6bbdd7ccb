// The part of pinion::compiled that holds the bodies of what is seen of a cluster from outside.
#include <pinion/base/config.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/status/http_server.ipp>
#include <pinion/distributed/status/inspect.ipp>
#include <pinion/distributed/status/metrics_server.ipp>
#include <pinion/distributed/status/metrics_text.ipp>
#endif
