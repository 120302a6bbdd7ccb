// The part of pinion::compiled that holds the bodies of what tasks tell of themselves, and what is seen of them from
// outside.
#include <pinion/base/config.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/server/inventory.ipp>
#include <pinion/distributed/server/reporter.ipp>
#include <pinion/distributed/status/http_server.ipp>
#include <pinion/distributed/status/inspect.ipp>
#include <pinion/distributed/status/metrics_server.ipp>
#include <pinion/distributed/status/metrics_text.ipp>
#endif
